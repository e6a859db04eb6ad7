from __future__ import annotations

from klinic.diagnostics.run.events import Line
from klinic.diagnostics.run.lines import MAX_IN_TRACEBACKS, MAX_KEPT, TAIL, LinesOfNote, troubled


def kept(texts, source=""):
    notes = LinesOfNote()
    for number, text in enumerate(texts, 1):
        line = text if isinstance(text, Line) else Line(text, number, source)
        notes.add(line)
    return [line.text for line in notes.kept()]


FILLER = [f"generating {number}" for number in range(TAIL)]


def test_tail_is_kept_where_nothing_speaks_of_trouble():
    assert kept([*FILLER, "step 1", "step 2"]) == [*FILLER[2:], "step 1", "step 2"]


def test_tracebacks_of_two_processes_between_each_other():
    texts = [
        Line("Traceback (most recent call last):", 1, "a"),
        Line('  File "x.py", line 1, in f', 2, "a"),
        Line("Traceback (most recent call last):", 3, "b"),
        Line("hello", 4, "c"),
        Line("    quiet()", 5, "a"),
        Line('  File "y.py", line 2, in g', 6, "b"),
        Line("    silent()", 7, "b"),
        Line("KeyError: 'a'", 8, "a"),
        Line("KeyError: 'b'", 9, "b"),
        *(Line(text, 10 + place, "c") for place, text in enumerate(FILLER)),
    ]
    found = kept(texts)
    assert "hello" not in found
    assert {"    quiet()", "    silent()", "KeyError: 'a'", "KeyError: 'b'"} <= set(found)


def test_chained_causes_and_what_stands_below_the_last_line():
    texts = [
        "Traceback (most recent call last):",
        '  File "main.py", line 1, in main',
        "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.update()",
        '  File "actor.py", line 9, in update',
        "    loss.backward()",
        "torch.OutOfMemoryError: CUDA out of memory",
        "",
        "    full_key: actor.x",
        *FILLER,
    ]
    assert set(texts[:8]) - {""} <= set(kept(texts))


def test_one_wording_is_kept_twice_and_at_its_latest():
    texts = [f"ERROR node {number} is over 95% full" for number in range(500)] + FILLER
    found = [text for text in kept(texts) if text.startswith("ERROR")]
    assert found == [
        "ERROR node 0 is over 95% full",
        "ERROR node 1 is over 95% full",
        "ERROR node 499 is over 95% full",
    ]


def test_a_flood_of_tracebacks_hides_no_later_trouble():
    flood = ["Traceback (most recent call last):", '  File "x.py", line 1, in f', "ValueError: x"] * (MAX_KEPT * 2)
    found = kept([*flood, *FILLER, "NCCL watchdog timeout", *FILLER])
    assert "NCCL watchdog timeout" in found
    assert len(found) < MAX_KEPT + 2 * MAX_IN_TRACEBACKS


def test_long_lines_are_shortened():
    assert len(kept(["x" * 100_000])[0]) == 4000


def test_words_of_trouble():
    assert troubled("CUDA Error: out of memory")
    assert troubled("grad_norm is nan")
    assert not troubled("financing a banana")


def test_the_size_of_a_run_is_kept():
    texts = ["INFO: train and validate dataloader initialized, train dataset size: 16384", "Total training steps: 26"]
    found = kept([*texts, *FILLER, *FILLER])
    assert found[:2] == texts
    assert found[2] == FILLER[0]
