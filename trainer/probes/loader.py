"""Load a batch as verl does: its dataset and its loader over a small file of problems and the embedded tokenizer."""

from __future__ import annotations

import tempfile
from pathlib import Path

ROWS, BATCH = 16, 4


def probe() -> str:
    """Rows in, one batch of prompts out."""
    with tempfile.TemporaryDirectory(prefix="klinic-probe-") as folder:
        return _load(Path(folder))


def _load(folder: Path) -> str:
    from omegaconf import OmegaConf
    from torchdata.stateful_dataloader import StatefulDataLoader  # type: ignore[import-untyped]
    from transformers import AutoTokenizer
    from verl.trainer.ppo.utils import create_rl_dataset, create_rl_sampler
    from verl.utils.dataset.rl_dataset import collate_fn

    from klinic.trainer.data.generate import write_arithmetic
    from klinic.trainer.model.embedded import embedded_model

    train, _ = write_arithmetic(folder, ROWS, 1, validation=1)
    config = OmegaConf.create({**_settings(), "cache_dir": str(folder)})
    dataset = create_rl_dataset(str(train), config, AutoTokenizer.from_pretrained(embedded_model()), None)
    sampler = create_rl_sampler(config, dataset)
    loader = StatefulDataLoader(dataset, batch_size=BATCH, sampler=sampler, collate_fn=collate_fn, num_workers=0)
    batch = next(iter(loader))
    size = len(batch["data_source"])
    if size != BATCH:
        raise RuntimeError(f"a batch of {size} rows in place of {BATCH}")
    return f"{len(dataset)} rows, a batch of {size} with {', '.join(sorted(batch)[:3])}, ..."


def _settings() -> dict[str, object]:
    """verl's own settings of `data`, as its config composes them."""
    from klinic.diagnostics.verlconfig.table import all_keys, entry

    names = [key for key in all_keys() if key.startswith("data.") and key.count(".") == 1]
    return {name.removeprefix("data."): entry(name).default for name in names if entry(name)}  # type: ignore[union-attr]
