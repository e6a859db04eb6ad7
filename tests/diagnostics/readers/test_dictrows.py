"""Rows of TRL, ms-swift and Unsloth, against facts checked by eye."""

from __future__ import annotations

import math

import pytest

from klinic.diagnostics.readers.dictrows import READER
from klinic.diagnostics.run import Happened, Line, ManifestRead, Meta, Note, Row


@pytest.fixture
def events(text_events):
    return lambda text: text_events(READER, text)


def rows_of(found):
    return [event for event in found if isinstance(event, Row)]


@pytest.mark.parametrize(
    ("log", "framework", "steps", "raw", "number"),
    [
        ("025", "trl", [8, 16, 24, 32, 40], "completions/max_length", 512.0),
        ("027", "trl", list(range(1, 9)), "reward", 0.0),
        ("028", "trl", [33, 66, 99, 132, 165, 198], "grad_norm", 0.1624),
        ("038", "trl", [2, 4, 6, 8, 10, 12], "reward", None),
        ("043", "trl", [1, 2, 3], "grad_norm", 0.1552734375),
        ("050", "trl", [1, 2, 3, 4, 5, 6], "loss", 0.0),
        ("053", "trl", [1, 2, 3, 4, 5], "kl", 1.230994462966919),
        ("055", "trl", [1, 2, 3], "loss", 0.0001),
        ("057", "trl", [1, 2, 3, 4], "objective/kl", 11.28681755065918),
        ("084", "ms-swift", [1, 2, 3, 4, 5, 6], "frac_reward_zero_std", 1.0),
    ],
)
def test_rows_of_logs(log_path, text_events, read_log, log, framework, steps, raw, number):
    found = text_events(READER, log_path(log).read_bytes())
    rows = rows_of(found)
    assert [row.step for row in rows] == steps
    if number is not None:
        assert rows[-1].values[raw] == number
    run = read_log(log)
    assert (run.source.format, run.source.framework, run.source.not_rl) == ("trl", framework, "")


def test_bare_nan_and_two_trainings_in_one_file(log_path, text_events, read_log):
    rows = rows_of(text_events(READER, log_path("010").read_bytes()))
    assert [row.step for row in rows] == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    assert [math.isnan(row.values["grad_norm"]) for row in rows] == [True] * 5 + [False] * 5
    assert rows[8].values["grad_norm"] == 4.985927581787109
    assert math.copysign(1, rows[0].values["loss"]) == -1
    assert [attempt.rows for attempt in read_log("010").attempts] == [5, 5]


def test_collapse_is_in_the_numbers(log_path, text_events):
    rows = rows_of(text_events(READER, log_path("025").read_bytes()))
    first, last = rows[0].values, rows[-1].values
    assert first["reward"] > 0.8
    assert (last["reward"], last["completions/mean_length"], last["frac_reward_zero_std"]) == (0.0, 512.0, 1.0)


def test_nan_comes_and_goes(read_log):
    run = read_log("053")
    assert run.nonfinite["actor/loss"].to_list() == [0, 1, 1, 1, 1]


def test_rows_without_reward_keys(log_path, text_events):
    rows = rows_of(text_events(READER, log_path("043").read_bytes()))
    assert ["reward" in row.values for row in rows] == [False, True, False]


def test_cut_row_keeps_its_whole_pairs(log_path, text_events):
    found = text_events(READER, log_path("043").read_bytes())
    assert "clip_ratio/low_mean" not in rows_of(found)[-1].values, "its value may lack digits"
    assert [event.text for event in found if isinstance(event, Note)] == ["line 3: cut off inside a row"]


def test_supervised_fine_tuning_is_told_apart(read_log):
    assert read_log("034").source.not_rl.startswith("supervised fine-tuning")


def test_values_as_strings(events):
    (row,) = rows_of(events("{'loss': '0.004024', 'kl': '17.76', 'reward': 'nan', 'epoch': '0.0005352'}\n"))
    assert (row.values["kl"], row.values["loss"], math.isnan(row.values["reward"])) == (17.76, 0.004024, True)
    assert row.decimals == {}, "four significant digits are no fixed decimals"


def test_swift_writes_its_step_and_total(events):
    text = "{'loss': 0.1, 'reward': 1.0, 'global_step/max_steps': '5/547', "
    text += "'percentage': '0.91%', 'elapsed_time': '5m 18s', 'memory(GiB)': 21.5}\n"
    found = events(text)
    (row,) = rows_of(found)
    assert (row.step, row.values) == (5, {"loss": 0.1, "reward": 1.0, "memory(GiB)": 21.5})
    assert [event.data for event in found if isinstance(event, ManifestRead)] == [{"total_steps": 547}]
    assert [event.framework for event in found if isinstance(event, Meta)] == ["ms-swift"]


def test_loss_is_rounded_by_the_trainer(events):
    first, second = rows_of(
        events("{'loss': 0.0, 'grad_norm': 0.5, 'reward': 1.0}\n{'loss': 0.1234567, 'grad_norm': 0.5}\n")
    )
    assert (first.decimals, second.decimals) == ({"loss": 4}, {})


def test_glued_to_a_bar(events):
    found = events(
        "  4%|▍         | 8/200 [04:40<1:49:21, 34.17s/it]{'loss': 0.0, 'reward': 0.5, 'kl': 0.1}\r 5%|█| 9/200 [0\n"
    )
    assert rows_of(found)[0].values == {"loss": 0.0, "reward": 0.5, "kl": 0.1}
    assert not [event for event in found if isinstance(event, Line)]


def test_two_on_one_line_and_text_behind(events):
    found = events("{'loss': 0.0, 'reward': 0.5, 'kl': 0.1}{'loss': 0.5, 'reward': 0.5, 'kl': 0.1} saved\n")
    assert [row.values["loss"] for row in rows_of(found)] == [0.0, 0.5]
    assert [event.text for event in found if isinstance(event, Line)] == ["saved"]


def test_wrapped_over_lines(events):
    text = "{'loss': 0.0, 'grad_norm': 1.25, 'rew\nard': 0.5, 'kl': 0.0\n01, 'epoch': 0.1}\nnext\n"
    found = events(text)
    assert rows_of(found)[0].values == {"loss": 0.0, "grad_norm": 1.25, "reward": 0.5, "kl": 0.001, "epoch": 0.1}


def test_the_order_of_a_row_does_not_matter(events):
    (row,) = rows_of(events("{'entropy': '0.3', 'reward': '0.25', 'loss': '0.1', 'epoch': '0.1'}\n"))
    assert row.values == {"entropy": 0.3, "reward": 0.25, "loss": 0.1, "epoch": 0.1}
    assert not rows_of(events("{'sample': 3, 'reward': 1.0, 'loss': 0.1}\n")), "a dict that a program prints"


def test_summary_ends_a_training(events):
    found = events(
        "{'loss': 0.5, 'reward': 0.5, 'kl': 0.1}\n{'train_runtime': '6185', 'train_loss': '0.0347', 'epoch': '0.107'}\n"
    )
    assert [(event.kind, event.data["train_runtime"]) for event in found if isinstance(event, Happened)] == [
        ("finished", 6185.0)
    ]
    assert len(rows_of(found)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "kwargs: {'n': 1, 'logprobs': 0, 'max_tokens': 128, 'temperature': 1.0}",
        '{"loss": 0.5, "reward": 1.0}',
        "print({'loss_fn': 'x'})",
        "Updated tokens: {'bos_token_id': None, 'pad_token_id': 151643}.",
    ],
)
def test_other_dicts_are_text(events, text):
    found = events(text + "\n")
    assert not rows_of(found)
    assert [event.text for event in found if isinstance(event, Line)] == [text]


def test_the_banner_is_config(read_log):
    config = read_log("027").config
    assert (config.get("max_steps"), config.get("per_device_train_batch_size"), config.get("num_train_epochs")) == (
        200,
        2,
        2,
    )
    assert config.where == ("trainer banner",)
    assert not config.user


BAR = "  1%|▏         | {}/200 [00:08<13:48,  4.19s/it]\r"
ROW = "{'loss': 0.1, 'reward': 0.5, 'kl': 0.1}\n"


def steps_of(found):
    return [row.step for row in rows_of(found)]


def test_the_bar_tells_the_steps_of_rows(events):
    every = "".join(BAR.format(step) + (ROW if step % 10 == 0 else "") for step in range(1, 41))
    assert steps_of(events(every)) == [10, 20, 30, 40]
    blocks = BAR.format(57) + 11 * ROW + BAR.format(113) + 11 * ROW + BAR.format(120) + 2 * ROW + BAR.format(121)
    assert steps_of(events(blocks)) == list(range(5, 125, 5))


def test_a_bar_that_lags_is_overtaken_by_counting(events):
    assert steps_of(events(BAR.format(1) + 4 * ROW + BAR.format(5) + 3 * ROW)) == [1, 2, 3, 4, 5, 6, 7]


def test_a_full_bar_behind_the_summary_says_nothing_of_the_next_training(events):
    over = "{'train_runtime': 10.0, 'train_loss': 0.1, 'epoch': 1.0}\n"
    found = events(BAR.format(190) + 19 * ROW + over + BAR.format(200) + ROW + BAR.format(10) + ROW + BAR.format(20))
    assert steps_of(found) == [*range(10, 200, 10), 1, 10]


def test_an_evaluation_stands_at_the_step_before_it(events):
    both = ROW + "{'eval_loss': 0.2, 'eval_reward': 0.5, 'epoch': 0.1}\n"
    assert steps_of(events(BAR.format(10) + both + BAR.format(20) + both + BAR.format(21))) == [10, 10, 20, 20]


def test_rows_further_apart_than_a_step_are_noted(read_log, events):
    over = "{'train_runtime': 10.0, 'train_loss': 0.1, 'epoch': 1.0}\n"
    (note,) = (event for event in events(BAR.format(0) + 5 * ROW + over) if isinstance(event, Note))
    assert note.text == "rows carry no step and are counted; of 200 steps, a row stands for about 40"
    assert read_log("084").notes == ()
