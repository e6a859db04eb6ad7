"""The quick ways of the readers give the runs that the slow ways give, whatever stands in the log."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from types import ModuleType

import pytest

from klinic.diagnostics.readers import console, jsonl
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.readers.fast import extension, jsonshape
from klinic.diagnostics.readers.verl import consolesession
from klinic.diagnostics.run import Block, Row, Run, one_by_one

pytestmark = pytest.mark.slow

Read = Callable[[Reader, bytes, int], tuple[Run, int]]
NAMES = ["actor/pg_loss", "critic/vf_loss", "critic/loss", "actor/lr", "x/mean@4", "行/列"]


def odd_lines(seed: int) -> bytes:
    """Lines of verl's file logger with everything that may stand among them."""
    luck = random.Random(seed)
    lines, step = [], 0
    for _ in range(luck.randint(100, 300)):
        step += luck.choices([1, 0, 5, -3], [90, 4, 4, 2])[0]
        names = [name for name in NAMES if luck.random() < 0.9]
        if luck.random() < 0.1:
            luck.shuffle(names)
        data = {name: luck.choice([luck.random(), luck.randint(-5, 10 ** luck.randint(0, 30))]) for name in names}
        record: dict[str, object] = {"step": step, "data": data}
        kind = luck.randrange(60)
        if kind == 0:
            data[luck.choice(NAMES)] = None
        elif kind == 1:
            record["nonfinite"] = {"actor/lr": "inf"}
        elif kind == 2:
            record["time"] = luck.choice([1.7e9 + step, "late", None])
        elif kind == 3:
            data[f"late/{luck.randint(0, 3)}"] = 1.5
        elif kind == 4:
            record["data"] = luck.choice([{}, {"a": {"b": 1}}, {"a": "words"}, {"a": True}, [1]])
        elif kind == 5:
            record["step"] = luck.choice([2**70, "7", 3.5, 4.0, None])
        text = json.dumps(record, ensure_ascii=luck.random() < 0.5)
        if kind == 6:
            text = text[: luck.randint(0, len(text))]
        elif kind == 7:
            text = luck.choice(["", "  ", "Traceback", text + "\r", text.replace("{", "{ "), text + text])
        elif kind == 8:
            text = text.replace('"data": {', '"data": {"actor/lr": 9, "actor/lr": NaN, ')
        lines.append(text.encode())
    return b"\n".join(lines) + b"\n" * luck.randint(0, 1)


def same(one: Run, other: Run) -> None:
    assert one.frame.equals(other.frame)
    assert one.frame.columns == other.frame.columns
    assert one.nonfinite.equals(other.nonfinite)
    assert one.attempts == other.attempts
    assert one.decimals == other.decimals
    assert one.events == other.events
    assert one.lines == other.lines
    assert one.notes == other.notes
    assert one.config == other.config
    assert one.last_line == other.last_line


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch, read: Read) -> Callable[[Reader, bytes], Run]:
    def slow(reader: Reader, data: bytes) -> Run:
        with monkeypatch.context() as patched:
            patched.setattr(jsonshape.Shape, "usable", lambda self: False)
            run, quick = read(reader, data, 1 << 20)
        assert quick == 0
        return run

    return slow


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("seed", range(10))
def test_json_lines(slowly: Callable[[Reader, bytes], Run], seed: int, read: Read) -> None:
    data = odd_lines(seed)
    for size in (1 << 20, 20_000):
        run, quick = read(jsonl.READER, data, size)
        assert quick > 20, "the quick way was not tried"
        same(run, slowly(jsonl.READER, data))


NOISE = [
    "(WorkerDict pid={n}) INFO reset of the cache took {n}.{n} s",
    "(WorkerDict pid={n}) Traceback (most recent call last):",
    '(WorkerDict pid={n})   File "/a/b.py", line {n}, in f',
    "(WorkerDict pid={n}) TimeoutError: grading step:{n} timed out",
    "\x1b[36m(TaskRunner pid=7)\x1b[0m Training Progress:  3%|## | {n}/{total} [00:01<00:09, 1.5s/it]",
    "(TaskRunner pid=7) Processed prompts: {n}%|{bar}| {n}/512 [00:01<00:09]",
    "(TaskRunner pid=8) Loading {n}%|{bar}| {n}/512 [00:01<00:09] ERROR node {n} is full, {n}%|{bar}|",
    "Saving checkpoint to: /a/global_step_{n}",
    "(TaskRunner pid=7) warning: node {n} is nearly full\r(TaskRunner pid=7) again",
    "[response] step by step - and key:value, step:{n} - a word",
    "{{'actor_rollout_ref': {{'actor': {{'optim': {{'lr': {n}e-6}}}}}}}}",
    "wandb: run {n} of many\r",
    "",
    "text {word} that never comes twice",
    "python3 -m verl.trainer.main_ppo data.train_batch_size={n} trainer.n_gpus_per_node={n} \\",
    "    trainer.nnodes=1",
    "('Initial validation metrics: {{'val/x': 0.{n}}}')",
]


def odd_console(seed: int) -> bytes:
    """A console log with everything that stands in one, the metric lines not all alike."""
    luck = random.Random(seed)
    lines, step, total = [], 0, 100
    for _ in range(700):
        for _ in range(luck.randint(0, 4)):
            total = luck.choice([total] * 50 + [200])
            word = "".join(luck.choices("abcdefgh", k=9))
            bar = luck.choice(["", "  ", "\u2588\u258f ", "\u2588" * luck.randint(0, 9) + " ", "##", "\u2588" * 210])
            weights = [9, 3, 3, 3, 5, 4, 4, 1, 3, 3, 0.2, 3, 3, 1, 0.2, 0.2, 0.2]
            lines.append(
                luck.choices(NOISE, weights)[0].format(n=luck.randint(1, 999), word=word, total=total, bar=bar)
            )
        step += luck.choices([1, 0, -3], [97, 2, 1])[0]
        if step < 0:
            continue
        names = NAMES[:-1] if luck.random() < 0.8 else NAMES
        items = [f"{name}:{number(luck)}" for name in names]
        kind = luck.randrange(80)
        if kind == 0:
            items.append(items[0])
        elif kind == 1:
            items[1] = "critic/vf_loss:nan"
        elif kind == 2:
            items.append(f"late/{luck.randint(0, 5)}:1.25")
        elif kind == 3:
            items[-1] = items[-1][:-3] + "x"
        text = luck.choice(["", "(TaskRunner pid=12) ", "Progress: 3%|#|"] if kind < 9 else [""])
        text += f"step:{step} - " + " - ".join(items)
        lines.append(text if kind != 4 or seed else text[:30] + "\n" + text[30:])
    return "\n".join(lines).encode() + b"\n" * luck.randint(0, 1)


def number(luck: random.Random) -> str:
    return luck.choice(
        [repr(luck.random()), repr(luck.random() * 1e-6), "3", f"np.float64({luck.random()!r})", "0.250"]
    )


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("seed", range(6))
def test_console(monkeypatch: pytest.MonkeyPatch, seed: int, read: Read) -> None:
    data = odd_console(seed)
    if seed % 2:
        data = data.replace(b"\n    trainer", b"\ntrainer").replace(b":0.250", b":0.2504")
    quick = read(console.READER, data, 1 << 20), read(console.READER, data, 20_000)
    monkeypatch.setattr(consolesession, "MANY", 1 << 40)
    slow, none = read(console.READER, data, 1 << 20)
    assert none == 0
    for run, _ in quick:
        same(run, slow)
    assert sum(count for _, count in quick) > 50 or not seed, "the quick way was not tried"


def damaged(data: bytes, seed: int) -> bytes:
    """With bits flipped, bytes lost and bytes that do not belong there."""
    luck = random.Random(seed)
    out = bytearray(data)
    for _ in range(luck.randint(5, 60)):
        place, kind = luck.randrange(len(out)), luck.randrange(3)
        if kind == 0:
            out[place] ^= 1 << luck.randrange(8)
        elif kind == 1:
            del out[place : place + luck.randint(1, 40)]
        else:
            out[place:place] = luck.randbytes(luck.randint(1, 9))
    return bytes(out)


@pytest.mark.usefixtures("both_ways")
def test_damaged_consoles(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    tried = 0
    for seed in range(1, 6):
        good = odd_console(seed).replace(b"\n    trainer", b"\ntrainer").replace(b":0.250", b":0.2504")
        data = damaged(good, seed)
        quick = [read(console.READER, data, size) for size in (1 << 20, 20_000)]
        with monkeypatch.context() as patched:
            patched.setattr(consolesession, "MANY", 1 << 40)
            slow, _ = read(console.READER, data, 1 << 20)
        for run, count in quick:
            tried += count
            same(run, slow)
    assert tried > 1000, "the quick way was not tried"


@pytest.mark.usefixtures("both_ways")
def test_a_row_waits_for_what_may_end_it(read: Read) -> None:
    """A line after rows read at once, which may be their last line's rest: only where no text stands between."""
    rows = [f"step:{number} - a/x:{number / 7} - a/y:{number / 3}\n" for number in range(1, 4000)]
    rows.append("step:4000 - a/y:0.1234 - a/x:0.123\n")  # in another order: not surely complete
    rest = " - b/late:1.5\n"
    noise = "a word\n" * 20
    for size in (1 << 16, 1 << 20):
        for between, found in (("", [1.5]), ("a word\n", [])):
            run, quick = read(console.READER, (noise + "".join(rows) + between + rest).encode(), size)
            assert quick > 1000
            assert [value for value in run.frame.to_dict(as_series=False).get("b/late", []) if value] == found


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\x01b"])
def test_a_key_that_json_would_escape_is_read(key: str, read: Read) -> None:
    lines = "\n".join(f"step:{number} - {key}:{number / 7} - a/y:1.5" for number in range(1, 400))
    run, _ = read(console.READER, lines.encode(), 1 << 20)
    assert run.frame.height == 399
    rows = b"\n".join(json.dumps({"step": number, "data": {key: 0.5}}).encode() for number in range(1, 400))
    run, _ = read(jsonl.READER, rows, 1 << 20)
    assert run.frame[key].to_list() == [0.5] * 399


@pytest.mark.usefixtures("both_ways")
def test_a_repeated_line_is_passed_over_and_its_last_ones_are_kept(read: Read) -> None:
    lines = [
        f"ERROR node {number} is full\nstep:{number} - a/x:{number / 7} - a/y:{number}" for number in range(1, 3000)
    ]
    run, quick = read(console.READER, "\n".join(lines).encode(), 1 << 16)
    assert quick > 800
    assert run.frame["a/x"].to_list() == [number / 7 for number in range(1, 3000)]
    assert [line.text for line in run.lines][-60:] == [f"ERROR node {number} is full" for number in range(2940, 3000)]
    assert run.lines[0].text == "ERROR node 1 is full"
    assert run.lines[0].line == 1


def test_progress_bars_of_any_drawing_are_one_kind_of_line(monkeypatch: pytest.MonkeyPatch, native: ModuleType) -> None:
    """Where each of 40 drawings has to come nine times before it is passed over, 360 steps are read one by one."""
    monkeypatch.setattr(extension, "_looked_up", lambda: (native, "", ""))
    lines = []
    for number in range(1, 401):
        lines.append(f"Progress: {number % 100}%|{'█' * (number % 40):<40}| {number}/400 [00:01<00:09]")
        lines.append(f"step:{number} - " + " - ".join(f"a/x{key}:{number / 7 + key}" for key in range(5)))
    data = "\n".join([*lines, ""]).encode()
    reading = console.READER.open(Head(data))
    events = [*reading.feed(data), *reading.close()]
    assert sum(len(event.steps) for event in events if isinstance(event, Block)) > 150
    assert [row.step for row in one_by_one(events) if isinstance(row, Row)] == [*range(1, 401)]
