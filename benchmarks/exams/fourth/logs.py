"""The loggers of the fourth paper: what each keeps, by which names, and what its file looks like."""

import csv
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..carriers import Columns
from ..names import OPENRLHF, TRL
from .host import Host

SLIM = (
    "critic/score/mean", "actor/entropy", "actor/grad_norm", "actor/pg_loss", "actor/ppo_kl", "actor/kl_loss",
    "actor/lr", "response_length/mean", "response_length/clip_ratio", "timing_s/step", "critic/vf_loss",
)  # fmt: skip
SLIME = {
    "actor/pg_loss": "train/pg_loss",
    "actor/entropy": "train/entropy_loss",
    "actor/pg_clipfrac": "train/pg_clipfrac",
    "actor/ppo_kl": "train/ppo_kl",
    "actor/kl_loss": "train/kl_loss",
    "actor/grad_norm": "train/grad_norm",
    "actor/lr": "train/lr-pg_0",
    "critic/score/mean": "rollout/raw_reward",
    "response_length/mean": "rollout/response_len/mean",
    "response_length/max": "rollout/response_len/max",
    "response_length/clip_ratio": "rollout/truncated_ratio",
}
OLD = {"actor/entropy": "actor/entropy_loss", "perf/mfu/actor": "mfu/actor", "val-core/": "val/test_score/"}
MIDDLE = {"actor/perf/": "perf/"}
NEW = (
    "rollout_corr/",
    "training/",
    "response/",
    "response_length_non_aborted/",
    "num_turns/",
    "tool_call",
    "fully_async",
)
NEW += ("rollout/", "timing_s/agent_loop/", "actor/perf/", "critic/perf/")
HIDDEN = ("groups/", "reward/")
TABLED = ("actor/", "critic/", "response_length/", "prompt_length/", "timing_s/", "perf/")
UNTABLED = ("timing_s/agent_loop/", "critic/perf/")
TRL_MORE = TRL | {"reward/accuracy": "rewards/accuracy_reward/mean", "reward/format": "rewards/format_reward/mean"}


def kept(t: Host, dialect: str) -> list[str]:
    """The columns, by verl's names, that a log of this dialect holds."""
    names = [name for name in t.columns if not np.isnan(t[name]).all()]
    if dialect in ("trl", "trl-state"):
        return [name for name in names if name in TRL_MORE]
    if dialect == "openrlhf":
        return [name for name in names if name in OPENRLHF and name != "actor/grad_norm"]
    if dialect == "slime":
        return [name for name in names if name in SLIME]
    names = [name for name in names if not name.startswith(HIDDEN)]
    if dialect == "slim":
        return [name for name in names if name in SLIM or name.startswith("val-core/")]
    if dialect == "csv":
        return [name for name in names if name.startswith(TABLED) and not name.startswith(UNTABLED)]
    if dialect == "old-console":
        return [name for name in names if not name.startswith(NEW)]
    if dialect == "np-console":
        plain = ("actor/perf/", "training/global_step", "training/epoch")
        return [name for name in names if not name.startswith(NEW) or name.startswith(plain)]
    return names


def write(t: Host, folder: Path, dialect: str, with_config: bool) -> Path:
    """Write a run into `folder`; the path of its log."""
    folder.mkdir(parents=True, exist_ok=True)
    if with_config and dialect in ("jsonl", "slim", "old-console", "np-console"):
        lines = (f"{key}={value}" for key, value in sorted(t.config.items()))
        (folder / "overrides.txt").write_text("\n".join(lines) + "\n")
    name, writer = WRITERS[dialect]
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in writer(t, {key: t[key] for key in kept(t, dialect)})))
    return path


def write_rows(t: Host, path: Path, dialect: str) -> None:
    """Write a run as JSON lines: what its log holds, by the logger's names; slime's and tables' by verl's."""
    columns = {key: t[key] for key in kept(t, dialect)}
    if dialect in ("trl", "trl-state"):
        lines = [json.dumps({"step": step, **row}) for step, row in _trl_rows(t, columns)]
    elif dialect == "openrlhf":
        named = {OPENRLHF[key]: values for key, values in columns.items()}
        lines = [json.dumps({"train/global_step": step, **row}) for step, row in rows(t, named)]
    else:
        few = dialect == "old-console"
        lines = list(_jsonl(t, {key: np.round(v, 3) if few else v for key, v in columns.items()}))
    path.write_text("".join(f"{line.replace('Infinity', 'NaN')}\n" for line in lines))


def rows(t: Host, columns: Columns) -> Iterator[tuple[int, dict[str, float]]]:
    """Each step with the values that it has."""
    for i, step in enumerate(t.steps):
        yield step, {name: float(v[i]) for name, v in columns.items() if not math.isnan(v[i])}


def _opening(t: Host, columns: Columns) -> dict[str, float]:
    names = [name for name in columns if name.startswith("val-core/")]
    return {names[0]: t.opening} if names and t.opening is not None else {}


def _jsonl(t: Host, columns: Columns) -> Iterator[str]:
    if first := _opening(t, columns):
        yield json.dumps({"step": 0, "data": first})
    for step, row in rows(t, columns):
        yield json.dumps({"step": step, "data": {k: None if math.isinf(v) else v for k, v in row.items()}})


def _renamed(name: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        if name.startswith(old):
            return new + name[len(old) :].replace("/acc/mean@1", "") if old == "val-core/" else new + name[len(old) :]
    return name


def _old_console(t: Host, columns: Columns) -> Iterator[str]:
    """verl of 2024: three decimals, an entropy that is called a loss, coloured prefixes."""
    yield from _console(t, columns, "\x1b[36m(main_task pid=31337)\x1b[0m ", OLD, lambda _, v: f"{v:.3f}")


def _np_console(t: Host, columns: Columns) -> Iterator[str]:
    """verl of 2025: numbers of numpy spelt out, progress bars in between."""

    def shown(name: str, value: float) -> str:
        return f"np.float64({value})" if name.startswith(("actor/", "critic/")) and name.count("/") == 1 else str(value)

    yield from _console(t, columns, "(TaskRunner pid=657041) ", MIDDLE, shown)


def _console(
    t: Host, columns: Columns, prefix: str, names: dict[str, str], shown: Callable[[str, float], str]
) -> Iterator[str]:
    yield f"{prefix}Size of train dataloader: {max(1, len(t) // 2)}"
    if first := _opening(t, columns):
        yield f"{prefix}step:0 - " + " - ".join(f"{_renamed(k, names)}:{shown(k, v)}" for k, v in first.items())
    for step, row in rows(t, columns):
        yield f"{prefix}Training Progress:  {100 * step // (len(t) + 1)}%|##        | {step}/{len(t)}"
        pairs = (f"{_renamed(k, names)}:{shown(k, v).replace('inf', 'nan')}" for k, v in row.items())
        yield f"{prefix}step:{step} - " + " - ".join(pairs)
    yield from t.tail.splitlines()


def _trl_rows(t: Host, columns: Columns) -> Iterator[tuple[int, dict[str, float]]]:
    for step, row in rows(t, columns):
        out = {TRL_MORE[name]: math.nan if math.isinf(v) else v for name, v in row.items()}
        i = t.steps.index(step)
        low, high = float(t["critic/score/min"][i]), float(t["critic/score/max"][i])
        share = 0.5 if high <= low else min(1.0, max(0.0, (row.get("critic/score/mean", low) - low) / (high - low)))
        spread = (high - low) * math.sqrt(share * (1 - share)) if math.isfinite(high - low) else math.nan
        out["reward_std"] = spread * (1 - row.get("groups/zero_std", 0.0))
        if "rewards/accuracy_reward/mean" not in out and "reward" in out:
            out["rewards/reward_fn/mean"], out["rewards/reward_fn/std"] = out["reward"], spread
        first = ("loss", "grad_norm", "learning_rate")  # as the trainer writes them
        ahead = {name: out.pop(name) for name in first if name in out}
        yield step, ahead | out | {"epoch": round(step / 700, 4)}


def _trl(t: Host, columns: Columns) -> Iterator[str]:
    """The trainer's console: a progress bar and a dict with every value as text."""
    for step, row in _trl_rows(t, columns):
        text = {name: f"{value:.6g}" for name, value in row.items()}
        yield f" {100 * step // (len(t) + 1)}%|##        | {step}/{len(t)} [{step}:02<9:10, 61.00s/it] {text}"


def _trl_state(t: Host, columns: Columns) -> Iterator[str]:
    rows = [{"step": step, **row} for step, row in _trl_rows(t, columns)]
    yield json.dumps({"global_step": t.steps[-1], "max_steps": t.steps[-1], "log_history": rows}, indent=1)


def _openrlhf(t: Host, columns: Columns) -> Iterator[str]:
    for step, row in rows(t, columns):
        out = {OPENRLHF[k].removeprefix("train/"): math.nan if math.isinf(v) else v for k, v in row.items()}
        yield f"(PPOTrainer pid=2201) ppo_trainer.py:547] ✨ Global step {step}: {out}"


def _slime(t: Host, columns: Columns) -> Iterator[str]:
    for step, row in rows(t, columns):
        out = {SLIME[k]: math.nan if math.isinf(v) else v for k, v in row.items()}
        for word, part, who in (("rollout", "rollout/", "RolloutManager"), ("step", "train/", "MegatronTrainRayActor")):
            some = {k: v for k, v in out.items() if k.startswith(part)} | (
                {"train/step": step} if word == "step" else {}
            )
            yield f"({who} pid=6809) [2026-02-02 17:53:16] model.py:590 - {word} {step}: {some}"


def _csv(t: Host, columns: Columns) -> Iterator[str]:
    lines: list[str] = []

    class Sink:
        def write(self, text: str) -> int:
            lines.append(text.rstrip("\r\n"))
            return len(text)

    out = csv.writer(Sink())
    out.writerow(["step", *(_renamed(name, MIDDLE).replace("/", "_") for name in columns)])
    for i, step in enumerate(t.steps):
        out.writerow([step, *("" if math.isnan(v[i]) else float(v[i]) for v in columns.values())])
    yield from lines


WRITERS: dict[str, tuple[str, Callable[[Host, Columns], Iterator[str]]]] = {
    "jsonl": ("metrics.jsonl", _jsonl),
    "slim": ("metrics.jsonl", _jsonl),
    "old-console": ("console.log", _old_console),
    "np-console": ("console.log", _np_console),
    "trl": ("train.log", _trl),
    "trl-state": ("trainer_state.json", _trl_state),
    "openrlhf": ("train.log", _openrlhf),
    "slime": ("train.log", _slime),
    "csv": ("metrics.csv", _csv),
}
