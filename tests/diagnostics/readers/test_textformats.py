"""Further text formats: slime, torchforge, summaries, ART."""

from __future__ import annotations

import pytest

from klinic.diagnostics.readers import artbar, prettydict, stepblocks, summary, table
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.registry import readers
from klinic.diagnostics.run import Line, Meta, Row


def rows_of(events):
    return [event for event in events if isinstance(event, Row)]


def test_slime_over_lines(log_path, text_events):
    (row,) = rows_of(text_events(prettydict.READER, log_path("070").read_bytes()))
    assert (row.step, row.line, len(row.values)) == (0, 1, 14)
    assert row.values["train/train_rollout_logprob_abs_diff"] == 0.012678711675107479
    assert row.values["train/lr-pg_1"] == 1e-06


def test_slime_on_one_line(text_events):
    text = "[2026-01-01] utils.py:10 - rollout 3: {'rollout/raw_reward': 0.5, 'rollout/kl': np.float64(0.1)}\n"
    text += "[2026-01-01] step 3: {'train/loss': 1e-06, 'train/step': 3}\nbye\n"
    events = text_events(prettydict.READER, text)
    assert [(row.step, row.values) for row in rows_of(events)] == [
        (3, {"rollout/raw_reward": 0.5, "rollout/kl": 0.1}),
        (3, {"train/loss": 1e-06, "train/step": 3.0}),
    ]
    assert [event.framework for event in events if isinstance(event, Meta)] == ["slime"]
    assert [event.text for event in events if isinstance(event, Line)] == ["bye"]


def test_torchforge_block(log_path, text_events):
    events = text_events(stepblocks.READER, log_path("073").read_bytes())
    (row,) = rows_of(events)
    assert (row.step, len(row.values)) == (1, 13)
    assert row.values["main/rollout/avg_advantage"] == -7.450580596923828e-09
    assert [event.text for event in events if isinstance(event, Line)] == ["WandbBackend: Logged 86 metrics at step 1"]


def test_torchforge_blocks_behind_each_other(text_events):
    text = (
        "=== [x] - METRICS STEP 1 ===\n  a/b: 1.0\n==============\nother: 5\n=== [x] - METRICS STEP 2 ===\n  a/b: 2.0\n"
    )
    events = text_events(stepblocks.READER, text)
    assert [(row.step, row.values) for row in rows_of(events)] == [(1, {"a/b": 1.0}), (2, {"a/b": 2.0})]
    assert [event.text for event in events if isinstance(event, Line)] == ["other: 5"]


def test_summary_of_a_run(read_log):
    run = read_log("080")
    assert (run.source.format, run.source.framework, run.steps) == ("summary", "verl", (218, 218))
    assert run.frame["critic/score/mean"].to_list() == [0.05000000447034836]
    assert {name: run.nonfinite[name].to_list() for name in ("actor/kl_loss", "actor/grad_norm")} == {
        "actor/kl_loss": [1],
        "actor/grad_norm": [1],
    }


def test_summary_with_spreads(log_path, text_events):
    (row,) = rows_of(text_events(summary.READER, log_path("082").read_bytes()))
    assert row.values["training/rollout_probs_diff_mean"] == 0.81
    assert row.values["training/rollout_probs_diff_mean (min)"] == 0.00342151
    assert row.values["training/rollout_probs_diff_mean (max)"] == 0.877218


def test_bars_with_metrics(log_path, text_events):
    events = text_events(artbar.READER, log_path("085").read_bytes())
    rows = rows_of(events)
    assert [row.values["entropy"] for row in rows] == [0.382, 0.886, 1.42, 1.05]
    assert [row.values["grad_norm"] for row in rows] == [0.449, 0.661, 12.0, 0.769]
    assert any(isinstance(event, Line) and event.text == "DEBUG put request: train () {}" for event in events)


def test_a_bar_drawn_twice_gives_one_row(text_events):
    bar = "train:  25%|█| 1/4 [00:12<00:38, 12.8s/it, loss=0.5, entropy=0.3]"
    assert len(rows_of(text_events(artbar.READER, f"\r{bar}\r{bar}\n"))) == 1


def test_sniffers_agree_on_who_reads_what(log_path):
    """On every excerpt one reader is far surer than the others; a fork of verl has verl's words in its log too."""
    folder = log_path("001").parent
    for path in sorted(folder.glob("[0rv]*.log")) + sorted(folder.glob("*.txt")):
        head = Head(path.read_bytes())
        first, second = sorted((reader.sniff(head) for reader in readers()), reverse=True)[:2]
        assert second <= 0.05 or first - second >= 0.4, path.name


@pytest.mark.parametrize("module", [artbar, prettydict, stepblocks, summary, table])
@pytest.mark.parametrize(
    "text",
    ["", "hello\n", "step:1 - a/b:1\n", "{'loss': 0.1, 'reward': 0.5, 'kl': 1.0}\n", '{"step": 1}\n', "a,b\n1,2\n"],
)
def test_they_leave_other_formats_alone(module, text):
    assert module.READER.sniff(Head(text.encode())) == 0


@pytest.mark.parametrize(
    "text",
    [
        "| Step | Training Loss | reward | kl |\n|---|:---:|---|---|\n"
        "| 1 | 0.5 | 1.25 | No Log |\n| 2 | nan | 1.5 | 0.1 |\n",
        "Step\tTraining Loss\treward\tkl\n1\t0.5\t1.25\tNo Log\n2\tnan\t1.5\t0.1\n",
        "┏━━━━┳━━━┓\n┃ Step ┃ Training Loss ┃ reward ┃ kl ┃\n┡━━━━╇━━┩\n"
        "│ 1 │ 0.5 │ 1.25 │ No Log │\n│ 2 │ nan │ 1.5 │ 0.1 │\n└──┴──┘\n",
    ],
)
def test_tables(text_events, text):
    assert table.READER.sniff(Head(text.encode())) > 0.05
    events = text_events(table.READER, f"before\n{text}after\n")
    first, second = rows_of(events)
    assert (first.step, first.values) == (1, {"Training Loss": 0.5, "reward": 1.25})
    assert (second.step, second.values["reward"], second.values["kl"]) == (2, 1.5, 0.1)
    assert [event.framework for event in events if isinstance(event, Meta)] == ["trl"]


def test_a_table_of_something_else(text_events):
    text = "| Name | Value | Unit |\n|---|---|---|\n| lr | 1 | x |\nstep | two | words\n"
    assert table.READER.sniff(Head(text.encode())) == 0
    assert not rows_of(text_events(table.READER, text))
