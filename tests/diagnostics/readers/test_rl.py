import pytest

from klinic.diagnostics.readers.records.metricnames import framework_of

TRL = ("reward", "kl", "completions/mean_length", "rewards/accuracy/mean", "frac_reward_zero_std")
OPENRLHF = ("train/policy_loss", "train/actor_lr", "train/ppo_clip_ratio", "train/kl", "train/response_length")


@pytest.mark.parametrize(
    ("names", "framework"),
    [
        (TRL, "trl"),
        ((*TRL, "perf/throughput"), "trl"),  # a callback's own key, spelled as verl spells it
        (("actor/pg_loss", "critic/score/mean", "timing_s/step", "rewards/acc"), "verl"),
        (OPENRLHF, "openrlhf"),
        (("train/loss", "train/reward", "train/grad_norm"), ""),  # several frameworks write these
        (("global_step/max_steps", "reward", "completions/mean_length"), "ms-swift"),
        (("loss", "grad_norm"), ""),
        (("train/reward", "train/loss", "train/gen_kl_error", "timing/train/total_step_time"), "nemo-rl"),
        (("train/loss", "train/lr-pg_0", "rollout/raw_reward", "perf/step_time"), "slime"),
        (("train/reward_avg", "train/grad_norm", "train/iteration_time"), "cosmos"),
        (("ppo_actor/task_reward/avg", "timeperf/rollout"), "areal"),
    ],
)
def test_the_framework_that_most_names_speak_for(names, framework):
    assert framework_of(names) == framework
