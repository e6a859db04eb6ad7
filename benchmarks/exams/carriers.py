"""Healthy recordings as carriers: their trend stretched over any number of steps, their own noise drawn in blocks.

A column's trend is its running median, smoothed. What is left is noise; it is drawn again in blocks of whole rows, so
that what moves together in the recording moves together in the carrier. The first rows are kept as recorded.
"""

import gzip
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_logs"
PUBLIC = SAMPLES / "public/verl_ppo_qwen2.5_0.5b_gsm8k/console.log.gz"
RECORDED = {
    "ppo-cpu-1": "healthy/ppo-cpu-s1",
    "ppo-cpu-2": "healthy/ppo-cpu-s2",
    "ppo-cpu-3": "healthy/ppo-cpu-s3",
    "grpo-cpu": "healthy/grpo-cpu-s1",
    "grpo-cpu-2": "healthy/grpo-cpu-s2",
    "grpo-cpu-3": "healthy/grpo-cpu-s3",
    "grpo-gpu": "gpu/grpo-gpu-tp2",
    "grpo-gpu-dp": "gpu/grpo-gpu-dp2",
    "grpo-gpu-1": "gpu/grpo-gpu-s1",
    "grpo-gpu-2": "gpu/grpo-gpu-s2",
    "ppo-gpu-1": "gpu/ppo-gpu-s1",
    "ppo-gpu-2": "gpu/ppo-gpu-s2",
    "ppo-gpu-3": "gpu/gpu-lr-too-high-s1-treated",
    "ppo-gpu-4": "gpu/gpu-throughput-collapse-s1-treated",
    "ppo-gsm8k": "h200/ppo_resumed",
    "ppo-cpu-4": "healthy/ppo-cpu-s4",
    "ppo-cpu-5": "healthy/ppo-cpu-s5",
    "ppo-gpu-kl": "gpu/gpu-kl-coef-too-high-s1-treated",
    "ppo-gpu-cap": "gpu/gpu-response-cap-s1-treated",
    "grpo-wobbly": "prototype/grpo_healthy_wobbly",
}
START = 4  # rows kept as recorded
BLOCK = 5  # rows of noise drawn together; fewer of recordings under SHORT rows
SHORT = 15
OLD_NAMES = {
    "actor/entropy_loss": "actor/entropy",
    "critic/kl": "actor/reward_kl_penalty",
    "critic/kl_coeff": "actor/reward_kl_penalty_coeff",
    "val/test_score/openai/gsm8k": "val-core/openai/gsm8k/acc/mean@1",
}

Columns = dict[str, np.ndarray]


@dataclass
class Table:
    """A run to be written. columns: one float a step, NaN where nothing is logged, inf where the log has NaN."""

    columns: Columns
    algorithm: str
    config: dict[str, object] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    cap: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __setitem__(self, name: str, values: np.ndarray) -> None:
        self.columns[name] = values

    @property
    def validation(self) -> str | None:
        """The name of the validation score."""
        return next((name for name in self.columns if name.startswith("val-core/")), None)


@cache
def recorded(name: str) -> list[dict[str, float]]:
    """The metric rows of a recording from step 1 on, by verl's names of today."""
    if name == "ppo-public":
        return _console(PUBLIC)
    lines = (SAMPLES / RECORDED[name] / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["data"] for row in rows if "critic/score/mean" in row["data"]]


def _console(path: Path) -> list[dict[str, float]]:
    text = gzip.decompress(path.read_bytes()).decode(errors="replace")
    lines = (re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines())
    return [row for line in lines if (row := _console_row(line))]


def _console_row(line: str) -> dict[str, float]:
    if "critic/score/mean:" not in line:
        return {}
    row = {}
    for name, number in re.findall(r"([\w/()@.\-]+):(-?[\d.]+)(?: |$)", line):
        factor = 1e-4 if "(1e-4)" in name else 1.0
        plain = name.replace("(1e-4)", "").replace("timing/", "timing_s/")
        row[OLD_NAMES.get(plain, plain)] = float(number) * factor
    row.pop("step", None)
    phases = sum(value for name, value in row.items() if name.startswith("timing_s/") and "testing" not in name)
    return row | {"timing_s/step": phases + 1.0}


def stretched(name: str, steps: int, rng: np.random.Generator, pace: float = 1.0) -> Columns:
    """A recording's columns over other steps.

    pace: how often the recording's course fits in; its last level holds from there on.
    """
    rows = recorded(name)
    held = sorted({key for row in rows for key in row if key.startswith("val-core/")})
    place = np.minimum(np.linspace(0.0, pace, steps), 1.0) * (len(rows) - 1)
    picks = _blocks(len(rows), steps, rng)
    columns = {key: stream.over(place, picks) for key, stream in streams(name).items()}
    return columns | {key: _validations(rows, key, place, rng) for key in held}


def _blocks(rows: int, steps: int, rng: np.random.Generator) -> np.ndarray:
    first, block = (START, BLOCK) if rows >= SHORT else (2, 2)
    starts = rng.integers(first, rows - block + 1, size=steps // block + 1)
    return (starts[:, None] + np.arange(block)).ravel()[:steps]


def trend(values: np.ndarray) -> np.ndarray:
    """The running median, smoothed by straight lines fitted around each row."""
    half = max(2, min(6, len(values) // 12))
    middle = np.array([np.median(values[max(0, i - half) : i + half + 1]) for i in range(len(values))])
    return np.array([_line_at(middle, i, 2 * half) for i in range(len(values))])


def _line_at(values: np.ndarray, i: int, half: int) -> float:
    rows = np.arange(max(0, i - half), min(len(values), i + half + 1))
    return float(np.polyfit(rows - i, values[rows], 1)[1])


@dataclass(frozen=True)
class Stream:
    """A recorded column. level: its trend, log: both in logarithms, low, high: the range after the first rows."""

    values: np.ndarray
    level: np.ndarray | None
    log: bool
    low: float
    high: float

    def over(self, place: np.ndarray, picks: np.ndarray) -> np.ndarray:
        """The column over other steps: the trend at `place`, the noise of rows `picks`; the first rows as recorded."""
        if self.level is None:
            out = np.full(len(place), self.values[-1])
        else:
            values = np.log(np.maximum(self.values, self.low / 10)) if self.log else self.values
            out = np.interp(place, np.arange(len(values)), self.level) + (values - self.level)[picks]
            out = np.exp(out) if self.log else np.clip(out, self.low, self.high)
        out[:START] = self.values[:START]
        return out


@cache
def streams(name: str) -> dict[str, Stream]:
    """The columns of a recording that have a value on nearly every row."""
    rows = recorded(name)
    names = [key for key in rows[-1] if not key.startswith("val-")]
    return {key: _stream(np.array([row.get(key, np.nan) for row in rows], float)) for key in names}


def _stream(values: np.ndarray) -> Stream:
    values = np.where(np.isnan(values), np.nanmedian(values), values)
    low, high = float(values[START:].min()), float(values[START:].max())
    if low == high:
        return Stream(values, None, False, low, high)
    log = low > 0 and high > 2 * low
    return Stream(values, trend(np.log(np.maximum(values, low / 10)) if log else values), log, low, high)


def _validations(rows: list[dict[str, float]], key: str, place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    seen = [(i, row[key]) for i, row in enumerate(rows) if key in row]
    every = max(1, len(place) // 12)
    share = np.interp(place, [i for i, _ in seen], [value for _, value in seen])
    problems = _problems([value for _, value in seen])
    drawn = rng.binomial(problems, np.clip(share, 0.0, 1.0)) / problems
    out = np.full(len(place), np.nan)
    out[every - 1 :: every] = drawn[every - 1 :: every]
    return out


def _problems(shares: list[float]) -> int:
    """As many problems as a recording was validated on, 512 where its values do not say: its luck stays luck."""
    fitting = (n for n in range(128, 600) if all(abs(share * n - round(share * n)) < 1e-6 for share in shares))
    return next(fitting, 512)
