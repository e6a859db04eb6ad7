from __future__ import annotations

import pytest

from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.plaintext import READER
from klinic.diagnostics.run import Line, Row


@pytest.mark.parametrize(
    ("log", "framework", "words"),
    [
        ("029", "", "ChildFailedError"),
        ("030", "", "OSError"),
        ("059", "", "Watchdog caught collective operation timeout"),
        ("060", "openrlhf", "OpType=_ALLGATHER_BASE"),
        ("067", "openrlhf", "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62"),
        ("071", "", "num_gen_batches=10 > max_num_gen_batches=10"),
        ("077", "trl", "must be evenly divisible by the number of generations per prompt (8)"),
    ],
)
def test_logs_without_metrics_keep_the_words_that_matter(read_log, log, framework, words):
    """The packages that a traceback names tell whose log it is."""
    run = read_log(log)
    assert (run.source.format, run.frame.height, run.source.framework) == ("text", 0, framework)
    assert any(words in line.text for line in run.lines)


def test_bars_alone_leave_next_to_nothing(read_log):
    assert len(read_log("068").lines) == 3


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("003", "NotImplementedError"),
        ("006", "is over 95% full"),
        ("007", "failed to get register_center_actor"),
        ("009", "torch.OutOfMemoryError: CUDA out of memory"),
        ("027", "CUDA out of memory. Tried to allocate 2.84 GiB"),
        ("028", "TypeError: Object of type bool_ is not JSON serializable"),
        ("062", "full_key: actor_rollout_ref.rollout.n"),
        ("064", "Key 'rollout_correction' is not in struct"),
        ("075", "max_num_batched_tokens (8192) is smaller than max_model_len (9216)"),
        ("run_err_hydra", "To append to your config use +actor_rollout_ref.actor.optim.learning_rate=1e-06"),
    ],
)
def test_so_do_logs_of_other_readers(read_log, log, words):
    lines = read_log(log).lines
    assert any(words in line.text for line in lines)
    assert not [
        line for line in lines if "\x1b" in line.text or "pid=" in line.text[:20] or "repeated" in line.text[-30:]
    ]


def test_line_numbers_are_those_of_the_file(read_log, log_path):
    raw = log_path("009").read_text().split("\n")
    for line in read_log("009").lines:
        assert line.text.strip()[:40] in raw[line.line - 1].replace("\x1b[36m", "").replace("\x1b[39m", "")


def test_torchruns_prefix_is_taken_off(read_log):
    assert read_log("077").lines[0].text == "Traceback (most recent call last):"


@pytest.mark.parametrize("data", [b"", b"   \n", bytes(range(256)) * 20, b"\x89PNG\r\n\x1a\n" + b"\0" * 300])
def test_what_is_no_text_is_refused(data):
    assert READER.sniff(Head(data)) == 0


def test_metrics_far_behind_the_head_are_still_read(text_events):
    text = "loading\n" * 100 + "step:1 - actor/x:0.5\n"
    assert [event.values for event in text_events(READER, text) if isinstance(event, Row)] == [{"actor/x": 0.5}]
    text = "loading\n" * 100 + "{'loss': 0.0, 'reward': 0.5, 'kl': 0.1}\n"
    assert [event.values["kl"] for event in text_events(READER, text) if isinstance(event, Row)] == [0.1]


def test_every_line_is_reported_once(text_events):
    events = text_events(READER, "a\n\nb\nc")
    assert [(event.text, event.line) for event in events if isinstance(event, Line)] == [("a", 1), ("b", 3), ("c", 4)]
