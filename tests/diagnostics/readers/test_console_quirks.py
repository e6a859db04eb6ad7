"""Ways in which a metric line reaches a file."""

from __future__ import annotations

import math

import pytest

from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.console import READER
from klinic.diagnostics.run import Happened, Line, ManifestRead, Note, Row

pytestmark = pytest.mark.usefixtures("at_any_size")


@pytest.fixture
def rows(text_events):
    return lambda text: [event for event in text_events(READER, text) if isinstance(event, Row)]


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("0.25", 0.25),
        ("np.float64(0.25)", 0.25),
        ("numpy.float32(-1e-05)", -1e-5),
        ("np.int64(2)", 2.0),
        ("tensor(0.5, device='cuda:0')", 0.5),
        ("True", 1.0),
        ("False", 0.0),
        ("-1", -1.0),
        ("7.9e6", 7.9e6),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
        ("np.float64(-inf)", -math.inf),
    ],
)
def test_spellings_of_numbers(rows, printed, number):
    (row,) = rows(f"step:3 - actor/x:{printed} - actor/y:1.5\n")
    assert row.values == {"actor/x": number, "actor/y": 1.5}


@pytest.mark.parametrize("printed", ["None", "[0.5]", "1_000", "--5", "1.0.0", "\u00bd", "0x10"])
@pytest.mark.parametrize("form", ["x/y:{} - y/z:1.5", "y/z:1.5 - x/y:{}", "y/z:1.5 - x/y:{} - b/c:1"])
def test_what_is_no_number_is_left_out_alone(rows, printed, form):
    (row,) = rows(f"step:3 - {form.format(printed)}\n")
    assert ("x/y" in row.values, row.values["y/z"]) == (False, 1.5)


@pytest.mark.parametrize("printed", ["nan", "NaN", "NAN", "np.float64(nan)", "-nan"])
def test_spellings_of_nan(rows, printed):
    (row,) = rows(f"step:3 - actor/x:{printed} - actor/y:1.5\n")
    assert math.isnan(row.values["actor/x"])


def test_negative_zero_stays_negative(rows):
    (row,) = rows("step:3 - actor/x:-0.0\n")
    assert math.copysign(1, row.values["actor/x"]) == -1


@pytest.mark.parametrize(
    "prefix",
    [
        "(TaskRunner pid=12) ",
        "\x1b[36m(main_task pid=12)\x1b[0m ",
        "\x1b[2m\x1b[36m(main_task pid=12)\x1b[0m ",
        "[36m(TaskRunner pid=12)[0m ",
        "\ufffd[36m(TaskRunner pid=12)\ufffd[0m ",
        "(TaskRunner pid=12, ip=10.0.0.1) ",
        "(TaskRunnerV1 pid=12) ",
        "\rTraining Progress:   1%|▏  | 1/300 [00:55<4:37:23, 55.66s/it]",
        "Epoch 1/3:   0%|        | 0/35 [00:00<?, ?it/s]",
        "2026-01-01T00:00:00Z ",
    ],
)
def test_what_may_stand_before_a_metric_line(rows, prefix):
    (row,) = rows(f"{prefix}step:7 - actor/x:0.5 - critic/score/mean:0.25\n")
    assert (row.step, row.values) == (7, {"actor/x": 0.5, "critic/score/mean": 0.25})


@pytest.mark.parametrize(
    "suffix",
    [
        "",
        "\r",
        " [repeated 14x across cluster]",
        "\x1b[32m [repeated 2x across cluster]\x1b[0m",
        "Training Progress:   1%|▏| 1/3 [00:01<",
    ],
)
def test_what_may_stand_behind_one(rows, suffix):
    (row,) = rows(f"step:7 - actor/x:0.5 - critic/score/mean:0.25{suffix}\n")
    assert row.values == {"actor/x": 0.5, "critic/score/mean": 0.25}


@pytest.mark.parametrize("key", ["critic/lr(1e-4)", "val/mean@1", "a b/c d", "x.y/z", "val-core/a:b/acc/mean@8"])
def test_odd_keys(rows, key):
    (row,) = rows(f"step:1 - actor/x:1.0 - {key}:0.5 - actor/y:2.0\n")
    assert row.values[key] == 0.5


LINE = "step:34 - actor/pg_loss:0.042396 - critic/rewards/max:1.0 - critic/rewards/min:-1.25 - timing_s/gen:12.5"


@pytest.mark.parametrize("cut", range(len("step:34 - actor/pg_loss:0.04"), len(LINE) - 3))
def test_wrapped_anywhere(rows, cut):
    (row,) = rows(f"(TaskRunner pid=1) {LINE[:cut]}\n{LINE[cut:]}\n(TaskRunner pid=1) next line\n")
    assert row.values == {
        "actor/pg_loss": 0.042396,
        "critic/rewards/max": 1.0,
        "critic/rewards/min": -1.25,
        "timing_s/gen": 12.5,
    }


def test_wrapped_at_eighty_columns_many_times(rows):
    items = {f"actor/metric_{number}": number * 0.125 for number in range(60)}
    line = "step:2" + "".join(f" - {key}:{value}" for key, value in items.items())
    wrapped = "\n".join(line[start : start + 80] for start in range(0, len(line), 80))
    (row,) = rows(wrapped + "\n\nTraining Progress:   1%|▏| 1/3 [00:01<00:02]\n")
    assert row.values == items


def test_text_below_is_not_joined(rows):
    (row,) = rows("step:1 - actor/x:0.5\n72\nThe answer is - I think: 5\n")
    assert row.values == {"actor/x": 0.5}


def test_one_metric_a_line(rows):
    text = "step:1\n - actor/x:0.5\n - actor/y:nan\nstep:2\n - actor/x:0.75\n - actor/y:1.0\nother text\n"
    first, second = rows(text)
    assert (first.step, first.values["actor/x"]) == (1, 0.5)
    assert math.isnan(first.values["actor/y"])
    assert (second.step, second.values) == (2, {"actor/x": 0.75, "actor/y": 1.0})


def test_one_metric_a_line_under_ray(rows):
    text = "(TaskRunner pid=9) step:1\n(TaskRunner pid=9)  - actor/x:0.5\n(TaskRunner pid=9)  - actor/y:2\n"
    (row,) = rows(text)
    assert row.values == {"actor/x": 0.5, "actor/y": 2.0}


def test_fixed_decimals(rows):
    old = rows("step:1 - actor/lr:0.000 - actor/x:0.125 - actor/y:12.500\nstep:2 - val/z:0.125\n")
    assert [dict(row.decimals) for row in old] == [{"actor/lr": 3, "actor/x": 3, "actor/y": 3}, {"val/z": 3}]
    full = rows("step:1 - actor/lr:1e-06 - actor/x:0.125 - actor/y:0.375\nstep:2 - val/a:0.125 - val/b:0.625\n")
    assert [dict(row.decimals) for row in full] == [{}, {}]


@pytest.mark.parametrize(
    "text",
    [
        "Next step: move the cursor - x: 5",
        "step: 1 - x: 5",
        "ValueError: step 0 - extract action failed from: 3",
        "'step:1 - a/b:0.5'",
        "I take step:1 - first: look at it",
        "    'total_training_steps': -1,",
        "logger.step:12",
    ],
)
def test_false_friends(rows, text_events, text):
    assert rows(f"(TaskRunner pid=1) {text}\n") == []
    assert [event.text for event in text_events(READER, text) if isinstance(event, Line)] == [text]


def test_metrics_among_the_lines_of_a_config_dump(text_events):
    text = "(R pid=1) {'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,\n(W pid=2) step: hello\n"
    text += "(R pid=1)   'grad_clip': 1.0}},\n"
    text += "(R pid=1)  'algorithm': {'gamma': 1.0}}\n(R pid=1) step:1 - actor/x:0.5\n"
    events = text_events(READER, text)
    (config,) = [event for event in events if type(event).__name__ == "ConfigRead"]
    assert config.values == {
        "actor_rollout_ref.actor.clip_ratio": 0.2,
        "actor_rollout_ref.actor.grad_clip": 1.0,
        "algorithm.gamma": 1.0,
    }
    assert not config.user
    assert [event.values for event in events if isinstance(event, Row)] == [{"actor/x": 0.5}]
    assert [event.text for event in events if isinstance(event, Line)] == ["step: hello"]


@pytest.mark.parametrize("encode", [lambda text: text.encode("utf-16"), lambda text: b"\xef\xbb\xbf" + text.encode()])
def test_byte_order_marks(text_events, encode):
    (row,) = [event for event in text_events(READER, encode("step:1 - actor/x:0.5\r\n")) if isinstance(event, Row)]
    assert (row.step, row.line) == (1, 1)


def test_bytes_of_no_encoding(text_events):
    events = text_events(READER, b"\xb2\xbb\xff ok\nstep:1 - actor/x:0.5\n")
    assert [event.values for event in events if isinstance(event, Row)] == [{"actor/x": 0.5}]


def test_an_unfinished_line_is_held_back():
    session = READER.open(Head(b""))
    assert not [event for event in session.feed(b"step:1 - actor/x:0.5\n") if isinstance(event, Row)], "may be wrapped"
    assert [event.step for event in session.feed(b"other\nstep:2 - actor/x:0.2") if isinstance(event, Row)] == [1]
    (second,) = [event for event in session.feed(b"5\n") if isinstance(event, Row)]
    assert (second.step, second.values) == (2, {"actor/x": 0.25}), "the same keys as before: no need to wait"


def test_last_value_of_a_torn_line_is_left_out(text_events):
    events = text_events(READER, "step:1 - actor/x:0.5 - actor/y:12.75 - actor/z:1.0\nstep:2 - actor/x:0.5 - actor/y:1")
    assert [event.values for event in events if isinstance(event, Row)][1] == {"actor/x": 0.5}
    assert [event.text for event in events if isinstance(event, Note)] == ["line 2: cut off at 'actor/y:1'"]


def test_words_about_the_run(text_events):
    text = "Resuming from /ckpt/global_step_10, setting global step to 10\nSaving checkpoint to /ckpt/global_step_20\n"
    text += "Training Progress:  10%|█| 3/30 [00:01<00:02]\nstep:20 - actor/x:1.0\n"
    text += "'Final validation metrics: {\\'val/a\\': 1.0}'\n"
    events = text_events(READER, text)
    assert [(e.kind, e.step) for e in events if isinstance(e, Happened)] == [
        ("resumed", 10),
        ("checkpoint", 20),
        ("finished", 20),
    ]
    assert [e.data for e in events if isinstance(e, ManifestRead)] == [{"total_steps": 30}]
    assert [e.values for e in events if isinstance(e, Row)] == [{"actor/x": 1.0}, {"val/a": 1.0}]


def test_lines_carry_numbers_and_processes(text_events):
    events = text_events(READER, "\n(A pid=1) one\n\r 5%|█| 1/20 [00:01<00:02]two\n(B pid=2, ip=10.0.0.1) three\n")
    lines = [(event.line, event.text, event.source) for event in events if isinstance(event, Line)]
    assert lines == [(2, "one", "(A pid=1)"), (3, "two", ""), (4, "three", "(B pid=2, ip=10.0.0.1)")]


def test_a_line_written_twice_counts_once(rows):
    assert [row.step for row in rows("step:1 - actor/x:0.5\nstep:1 - actor/x:0.5\nstep:2 - actor/x:0.5\n")] == [1, 2]


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("[36m(W pid=1)[0m x", "x"),
        ("[1;34mwandb[0m: run", "wandb: run"),
        ("took [2m30s] and [1m 35s] [30min]", "took [2m30s] and [1m 35s] [30min]"),
        ("a[0] list[39]m", "a[0] list[39]m"),
        ("^[[33m(raylet)^[[0m full", "full"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
    ],
)
def test_terminal_codes(text_events, raw, plain):
    assert [event.text for event in text_events(READER, raw + "\n") if isinstance(event, Line)] == [plain]


def test_decimals_are_told_although_a_bar_is_glued_on(rows):
    (row,) = rows("step:1 - actor/lr:0.000 - actor/x:0.125Training Progress:   1%|▏| 1/3 [00:01<\n")
    assert row.decimals == {"actor/lr": 3, "actor/x": 3}
