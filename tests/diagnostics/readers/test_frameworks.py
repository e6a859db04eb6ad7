"""Console forms of other frameworks than verl: NeMo-RL, OpenRLHF, slime, AReaL, EasyR1, cosmos-rl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import areal, cosmos, easyr1, nemorl, open_run, openrlhf
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.readers.registry import reader_for
from klinic.diagnostics.run import Event, Line, Row, Run

Events = Callable[..., list[Event]]


def rows_of(events: list[Event]) -> list[Row]:
    return [event for event in events if isinstance(event, Row)]


@pytest.mark.parametrize(
    ("log", "name", "framework", "shown"),
    [
        (
            "086",
            "nemo-rl",
            "nemo-rl",
            {
                "critic/score/mean": [0.0],
                "rollout_corr/k3_kl": [0.001],
                "response_length/mean": [201.2197],
                "timing_s/step": [35.7],
                "timing_s/gen": [4.95],
                "timing_s/update_actor": [10.97],
                "perf/throughput": [1073.59],
            },
        ),
        (
            "087",
            "openrlhf",
            "openrlhf",
            {
                "response_length/mean": [40.375, 49.5625],
                "actor/lr": [3.25e-06, 5.0e-07],
                "actor/pg_loss": [0.0, None],
                "timing_s/gen": [2.95, 1.63],
            },
        ),
        (
            "088",
            "slime",
            "slime",
            {
                "critic/score/mean": [0.20833333333333334],
                "response_length/mean": [1877.1458333333333],
                "rollout/response_lengths (again)": [5824.083333333333],
                "response_length/max": [5478.0],
                "response_length/clip_ratio": [0.0],
                "timing_s/gen": [262.3797221183777],
            },
        ),
        (
            "089",
            "areal",
            "areal",
            {"actor/entropy": [0.22102, 0.22102], "actor/lr": [5e-06, 4.5e-06], "timing_s/gen": [88.992, None]},
        ),
        (
            "090",
            "easyr1",
            "easyr1",
            {
                "critic/score/mean": [0.431, 0.5],
                "actor/entropy": [0.312, None],
                "actor/ppo_kl": [2.5e-05, None],
                "timing_s/gen": [72.023, None],
                "timing_per_token_ms/gen": [0.081, None],
            },
        ),
        (
            "091",
            "cosmos",
            "cosmos",
            {
                "actor/loss": [-0.02344, -0.00073, -0.01985, -0.00038, -0.00917, 0.0, 0.01284],
                "actor/lr": [2e-06] * 7,
                "timing_s/step": [79.064, 95.565, 82.381, 72.887, 85.035, 82.112, 92.138],
                "response_length/mean": [352.0, 385.0, 432.0, 398.0, 358.0, 375.0, 417.0],
                "critic/score/mean": [1.3125, 1.53125, 1.515625, 1.484375, 1.375, 1.484375, 1.328125],
            },
        ),
    ],
)
def test_a_log_is_told_by_content_and_its_metrics_get_verls_names(
    log_path: Callable[[str], Path], log: str, name: str, framework: str, shown: dict[str, list[float | None]]
) -> None:
    run = open_run(log_path(log))
    assert (run.source.format, run.source.framework) == (name, framework)
    assert {metric: run.frame[metric].to_list() for metric in shown} == shown
    assert diagnose(run).verdict in ("healthy", "watch", "sick")


@pytest.mark.parametrize("log", ["086", "087", "089", "090", "091"])
@pytest.mark.parametrize("size", [1, 7, 500])
def test_pieces_of_any_size_give_the_same_events(
    log_path: Callable[[str], Path], text_events: Events, log: str, size: int
) -> None:
    data = log_path(log).read_bytes()
    reader = reader_for(Head(data, complete=True))
    assert reader is not None
    assert list(map(repr, text_events(reader, data, size))) == list(map(repr, text_events(reader, data)))


def test_nemo_rl_counts_steps_over_epochs_and_reads_validation(text_events: Events) -> None:
    text = (
        "========================= Epoch 1/2 =========================\n"
        "========================= Step 1/2 =========================\n"
        "▶ Preparing batch...\n"
        "📊 Validation Results:\n    • Accuracy: 0.2500\n    • Average response length: 512.3 tokens\n"
        "📊 Training Results:\n  • Loss: -0.0121\n  • Avg Reward: 0.5000\n"
        "========================= Step 2/2 =========================\n"
        "📊 Training Results:\n  • Loss: nan\n"
        "========================= Epoch 2/2 =========================\n"
        "========================= Step 1/2 =========================\n"
        "📊 Training Results:\n  • Loss: 0.5\n"
    )
    events = text_events(nemorl.READER, text)
    one, two, three = rows_of(events)
    assert (one.step, two.step, three.step) == (1, 2, 3)
    assert one.values == {
        "validation/accuracy": 0.25, "validation/avg_length": 512.3, "train/loss": -0.0121, "train/reward": 0.5,
    }  # fmt: skip
    assert (one.decimals["train/loss"], str(two.values["train/loss"])) == (4, "nan")
    assert [event.text for event in events if isinstance(event, Line)] == ["▶ Preparing batch..."]


def test_bullets_outside_of_results_are_text(text_events: Events) -> None:
    text = "  • Loss: 1.0\n========================= Step 1/2 =========================\n  • Loss: 2.0\n"
    events = text_events(nemorl.READER, text)
    assert rows_of(events) == []
    assert [event.text.strip() for event in events if isinstance(event, Line)] == ["• Loss: 1.0", "• Loss: 2.0"]


def test_openrlhf_reads_its_evaluations_too(text_events: Events) -> None:
    text = (
        "✨ Global step 5: {'reward': 0.5, 'kl': np.float64(0.01), 'generated_samples': ['a', 1.0], 'return': -0.1}\n"
        "✨ Evaluation completed in 0:01:02, global_step 5, eval_metrics: {'eval_gsm8k_pass1': 0.25}\n"
    )
    assert [(row.step, row.values) for row in rows_of(text_events(openrlhf.READER, text))] == [
        (5, {"reward": 0.5, "kl": 0.01, "return": -0.1}),
        (5, {"eval_gsm8k_pass1": 0.25}),
    ]


def test_areal_takes_the_last_of_several_tables_and_knows_the_length(log_path: Callable[[str], Path]) -> None:
    path = log_path("089")
    run = open_run(path)
    assert run.manifest["total_steps"] == 1000
    assert run.frame["step"].to_list() == [1, 2]
    assert "StatsLogger INFO: Training completes" in run.lines[-1].text
    assert run.nonfinite["rollout/reward"].to_list()[1] == 1


def test_an_easyr1_tree_ends_with_the_first_line_that_is_none_of_its_own(text_events: Events) -> None:
    tree = "Step 3\ncritic:\n  score:\n    mean: 0.25\n  rewards:\n    mean: 0.125\nreward:\n  format: 1\n"
    events = text_events(easyr1.READER, f"{tree}loading: 5.\n  x: 1\n")
    (row,) = rows_of(events)
    assert row.values == {"critic/score/mean": 0.25, "critic/rewards/mean": 0.125, "reward/format": 1.0}
    assert (row.step, row.decimals["critic/score/mean"]) == (3, 2)


def test_cosmos_says_how_many_steps_are_planned_and_how_exact_its_loss_is(log_path: Callable[[str], Path]) -> None:
    run = open_run(log_path("091"))
    assert run.manifest["total_steps"] == 4725
    assert run.frame["step"].to_list() == list(range(861, 868))
    assert run.decimals["actor/loss"] == 5


OTHERS = ("001", "010", "014", "022", "035", "052", "070", "073", "080", "085", "run_grpo_nan_reward.log")


@pytest.mark.parametrize("reader", [nemorl.READER, openrlhf.READER, areal.READER, easyr1.READER, cosmos.READER])
def test_they_leave_other_formats_alone(log_path: Callable[[str], Path], reader: Reader) -> None:
    heads = {log: Head(log_path(log).read_bytes()[:262144]) for log in OTHERS}
    assert {log for log, head in heads.items() if reader.sniff(head)} == set()


def test_a_short_cut_log_of_another_framework_raises_no_alarm(log_path: Callable[[str], Path]) -> None:
    runs: dict[str, Run] = {log: open_run(log_path(log)) for log in ("087", "088", "089")}
    alarms = {log: [one.name for one in diagnose(run).findings if one.severity >= 2] for log, run in runs.items()}
    assert {log: names for log, names in alarms.items() if names} == {}
