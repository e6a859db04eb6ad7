"""Findings about files that the config names: data files that exist are read, model folders looked into."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.preflight.model import Found, Source
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ROLLOUT

DATA = ("data.train_files", "data.val_files")
ACTOR_MODEL, CRITIC_MODEL = "actor_rollout_ref.model.path", "critic.model.path"
REWARD = "reward.custom_reward_function.path"
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json")
ELSEWHERE = ("://", "$", "???")  # another store; a variable; not written yet
_HUB_NAME = re.compile(r"(?=.{1,96}$)[A-Za-z0-9][\w.-]*/[\w.-]*[\w]")  # huggingface_hub: validate_repo_id
WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.index.json")
LENGTH, TP = f"{ROLLOUT}.max_model_len", f"{ROLLOUT}.tensor_model_parallel_size"


def file_findings(source: Source, settings: Settings) -> Iterator[Found]:
    """Files of data, models and rewards that a person named and that are missing or not what verl wants.

    verl's own default paths are left alone, and so are names of models on a hub.
    """
    written = {one.key for one in source.written}
    for key in DATA:
        if key in written:
            yield from _data(key, source, settings)
    models = [ACTOR_MODEL, *([CRITIC_MODEL] if settings.uses_critic else [])]
    for key in models:
        if key in written:
            yield from _model(key, source, settings)
    if REWARD in written:
        yield from _reward(source, settings)


def train_rows(source: Source, settings: Settings) -> int | None:
    """Rows of the training files, None where one of them cannot be read here."""
    paths = _paths("data.train_files", source, settings)
    counts = [_rows(path) if source.may_look_at(path) and path.is_file() else None for path in paths]
    return None if not counts or None in counts else sum(count or 0 for count in counts)


def may_see_models(source: Source, settings: Settings) -> bool:
    """Whether the models' folders may be looked into."""
    names = [str(settings[key] or "") for key in (ACTOR_MODEL, CRITIC_MODEL)]
    return all(source.may_look_at(path) for path in map(Path, names) if expanded(path).exists())


def _paths(key: str, source: Source, settings: Settings) -> list[Path]:
    value = settings[key]
    names = value if isinstance(value, list) else [value]
    return [_path(str(name), source) for name in names if isinstance(name, str) and "$" not in name]


def _path(name: str, source: Source) -> Path:
    """Relative paths begin where the launch is made: here, else beside the script."""
    path = expanded(name)
    beside = source.folder / path
    return beside if not path.is_absolute() and not path.exists() and beside.exists() else path


def _data(key: str, source: Source, settings: Settings) -> Iterator[Found]:
    place = source.place_of(key)
    for path in filter(source.may_look_at, _paths(key, source, settings)):
        if not path.exists():
            if "://" not in str(path):
                message = tr("{}: {} is not there", key, path)
                yield Found("FILE", "data-missing", Severity.ERROR, message, place, "data loading")
            continue
        trouble = _schema_trouble(path)
        if trouble is not None:
            yield Found("FILE", "data-schema", Severity.ERROR, f"{key}: {path}: {trouble}", place, "data loading")


def _schema_trouble(path: Path) -> str | None:
    """What is wrong with the first row; None where verl can use it."""
    if not path.is_file():
        return tr("cannot be read: {}", tr("no file"))
    try:
        row = _first(path)
    except Exception as error:  # whatever a damaged file makes polars raise
        return tr("cannot be read: {}", str(error).splitlines()[0][:120])
    if row is None:
        return tr("it holds no row")
    prompt = row.get("prompt")
    if not isinstance(prompt, list) or not all(isinstance(one, dict) and "content" in one for one in prompt):
        return tr("its rows need a prompt that is a list of messages with role and content")
    reward = row.get("reward_model")
    if "data_source" not in row or not isinstance(reward, dict) or "ground_truth" not in reward:
        return tr("its rows need data_source and reward_model.ground_truth for the default scorer")
    return None


def _first(path: Path) -> dict[str, Any] | None:
    import polars as pl

    if path.suffix == ".parquet":
        return next(iter(pl.scan_parquet(path).head(1).collect().to_dicts()), None)
    with path.open(encoding="utf-8") as file:
        row = json.load(file)[0] if path.suffix == ".json" and file.read(1) == "[" and not file.seek(0) else None
        file.seek(0)
        return row or next((json.loads(line) for line in file if line.strip()), None)


def _rows(path: Path) -> int | None:
    import polars as pl

    try:
        if path.suffix == ".parquet":
            return int(pl.scan_parquet(path).select(pl.len()).collect().item())
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except Exception:  # the finding about the file says why
        return None


def _model(key: str, source: Source, settings: Settings) -> Iterator[Found]:
    """Only folders can be looked into; a name such as Qwen/Qwen2.5-0.5B is the hub's.

    A bare name is a folder's: the hub's have an owner, but for some of 2019, such as gpt2, that it leads on.
    """
    name, place = str(settings[key]), source.place_of(key)
    path = _path(name, source)
    if not source.may_look_at(path):
        return
    if not path.exists():
        if name.startswith(("/", "~", "./", "../")) and "$" not in name:
            yield Found(
                "FILE", "model-missing", Severity.ERROR, tr("{}: {} is not there", key, name), place, "model loading"
            )
        elif not any(mark in name for mark in ELSEWHERE) and not _HUB_NAME.fullmatch(name):
            said = later("{}: {} is no folder here, and no name on the hub, which are of the form owner/name")
            message = tr(said, key, name)
            yield Found("FILE", "model-unnamed", Severity.WARN, message, place, "model loading")
        return
    if not path.is_dir():
        message = tr("{}: {} is a file; a model is a folder, with config.json, tokenizer and weights", key, name)
        yield Found("FILE", "model-no-folder", Severity.ERROR, message, place, "model loading")
        return
    for trouble in _model_troubles(path, settings, key):
        yield Found("FILE", "model-incomplete", Severity.ERROR, f"{key}: {name}: {trouble}", place, "model loading")


def _model_troubles(path: Path, settings: Settings, key: str) -> Iterator[str]:
    try:
        config = json.loads((path / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        yield tr("no config.json that can be read")
        return
    if len(config.get("architectures") or []) != 1:
        yield tr("config.json must name exactly one architecture")
    if not any((path / file).exists() for file in TOKENIZERS):
        yield tr("no tokenizer")
    if not any(next(path.glob(pattern), None) for pattern in WEIGHTS):
        yield tr("no weights")
    if key == ACTOR_MODEL:
        yield from _limits(config, settings)


def _limits(config: dict[str, Any], settings: Settings) -> Iterator[str]:
    longest, length = config.get("max_position_embeddings"), settings.whole(LENGTH)
    if isinstance(longest, int) and length is not None and length > longest:
        yield tr("{} ({}) is above the model's {} positions", LENGTH, length, longest)
    heads, degree = config.get("num_attention_heads"), settings.whole(TP)
    if isinstance(heads, int) and degree and heads % degree:
        yield tr("{} ({}) does not divide its {} attention heads", TP, degree, heads)


def _reward(source: Source, settings: Settings) -> Iterator[Found]:
    path, place = _path(str(settings[REWARD]), source), source.place_of(REWARD)
    name = settings["reward.custom_reward_function.name"]
    if "://" in str(settings[REWARD]) or settings[REWARD] is None or not source.may_look_at(path):
        return
    if not path.is_file():
        yield Found(
            "FILE", "reward-missing", Severity.ERROR, tr("{}: {} is not there", REWARD, path), place, "start-up"
        )
    elif f"def {name}(" not in path.read_text("utf-8", "replace"):
        yield Found(
            "FILE", "reward-missing", Severity.WARN, tr("{}: {} defines no {}", REWARD, path, name), place, "start-up"
        )
