"""How often healthy runs raise an alarm: `python benchmarks/false_alarms.py [--runs 200] [--first 1] [--show]`.

Simulates healthy runs of five kinds and judges each at every prefix: an alarm above info at any of them counts. Prints
the share of runs with one, its 95 % confidence interval (Wilson), and the alarms by name. Levels, drifts and noise are
drawn from ranges that the healthy recordings in sample_logs show: batch scores and validations are binomial counts
with a difficulty that wanders from batch to batch, a new value head begins far off, gradients have a heavy tail.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.gate.prefixes import first_alarm
from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.run import Row, Run, RunBuilder
from klinic.diagnostics.run.events import ConfigRead

KINDS = ("ppo-sparse", "ppo-dense", "grpo-sparse", "grpo-dense", "ppo-reward-model")
Values = dict[str, Any]  # metric -> an array over the steps


class Plan:
    """What one run is set up like: drawn once."""

    def __init__(self, kind: str, luck: np.random.Generator) -> None:
        self.kind, self.luck = kind, luck
        self.grpo = kind.startswith("grpo")
        self.steps = int(luck.integers(80, 301))
        self.n = int(luck.choice([4, 8, 16])) if self.grpo else 1
        self.prompts = int(luck.choice([32, 64, 128])) if self.grpo else int(luck.choice([128, 256, 1024]))
        self.updates = int(luck.choice([1, 2, 4, 8]))
        self.cap = int(luck.choice([256, 1024, 4096]))
        self.warmup = int(luck.choice([0, 5, 10]))
        self.pulled = bool(luck.random() < 0.5)
        self.lr = float(luck.choice([5e-7, 1e-6, 2e-6]))
        self.tau = self.steps * luck.uniform(0.15, 0.6)
        self.learnt = 1 - np.exp(-np.arange(self.steps) / self.tau)

    @property
    def responses(self) -> int:
        """Responses a batch."""
        return self.prompts * self.n

    def between(self, low: float, high: float) -> float:
        """A number between two, even in its logarithm."""
        return float(math.exp(self.luck.uniform(math.log(low), math.log(high))))

    def wander(self, spread: float, memory: float) -> Any:
        """Autocorrelated noise of a standard deviation."""
        shocks = self.luck.normal(0, spread * math.sqrt(1 - memory**2), self.steps)
        out = np.empty(self.steps)
        last = float(self.luck.normal(0, spread))
        for step, shock in enumerate(shocks):
            last = memory * last + shock
            out[step] = last
        return out

    def rough(self, spread: float, memory: float = 0.1) -> Any:
        """Factors around 1, lognormal, autocorrelated."""
        return np.exp(self.wander(spread, memory))

    def config(self) -> dict[str, Any]:
        """The settings in verl's spelling."""
        actor = "actor_rollout_ref.actor."
        return {
            "algorithm.adv_estimator": "grpo" if self.grpo else "gae",
            "algorithm.use_kl_in_reward": self.pulled and not self.grpo,
            "data.train_batch_size": self.prompts,
            "data.max_response_length": self.cap,
            actor + "ppo_mini_batch_size": self.prompts // self.updates,
            actor + "ppo_epochs": 1,
            actor + "optim.lr": self.lr,
            actor + "optim.lr_warmup_steps": self.warmup,
            actor + "use_kl_loss": self.pulled and self.grpo,
            "actor_rollout_ref.rollout.n": self.n,
            "trainer.total_training_steps": self.steps,
            "trainer.test_freq": 10,
        }


def score(plan: Plan) -> Values:
    """Rewards of the batch, and of validation every ten steps."""
    luck, sparse = plan.luck, plan.kind.endswith("sparse")
    start, rise = plan.between(0.02, 0.3) if sparse else luck.uniform(0.1, 0.4), luck.uniform(0.2, 0.6)
    rate = np.clip(start + rise * plan.learnt, 0, 0.97)
    batch = np.clip(rate + plan.wander(0.02, 0.2), 0.001, 0.999)
    low, high = np.zeros(plan.steps), np.ones(plan.steps)
    if sparse:
        mean = luck.binomial(plan.responses, batch) / plan.responses
    else:
        mean = batch + luck.normal(0, 0.25 / math.sqrt(plan.responses), plan.steps)
    if plan.kind == "ppo-reward-model":
        offset, scale = luck.uniform(-3, 1), luck.uniform(1, 6)
        mean, low, high = offset + scale * mean, offset - scale * plan.rough(0.2), offset + 2 * scale * plan.rough(0.1)
    values = {"critic/score/mean": mean, "critic/score/max": high, "critic/score/min": low, "critic/rewards/mean": mean}
    questions = int(luck.choice([128, 256, 1319]))
    hits = luck.binomial(questions, np.clip(rate + luck.uniform(-0.05, 0.02), 0.001, 0.999)) / questions
    return {**values, "val-core/simulated/acc/mean@1": np.where(np.arange(plan.steps) % 10 == 0, hits, np.nan)}


def policy(plan: Plan) -> Values:
    """The actor's update."""
    luck, steps = plan.luck, np.arange(plan.steps)
    entropy = plan.between(0.1, 0.6) * (1 - luck.uniform(0.1, 0.7) * plan.learnt) * plan.rough(0.04)
    tail = 1 + (luck.random(plan.steps) < 0.01) * luck.uniform(1, 4, plan.steps)
    moved = plan.between(1e-4, 6e-4) * plan.rough(0.4) if plan.updates > 1 else np.zeros(plan.steps)
    values = {
        "actor/entropy": entropy,
        "actor/grad_norm": plan.between(0.1, 4) * plan.rough(0.25) * tail,
        "actor/ppo_kl": moved * np.where(luck.random(plan.steps) < 0.3, -1, 1),
        "actor/pg_clipfrac": moved * luck.uniform(5, 15),
        "actor/pg_loss": luck.normal(0, 0.012, plan.steps),
        "actor/lr": plan.lr * np.minimum(1, (steps + 1) / max(plan.warmup, 1)),
        "training/rollout_probs_diff_mean": plan.between(3e-4, 4e-3) * plan.rough(0.05),
    }
    drift = plan.between(0.005, 0.3) * plan.learnt * plan.rough(0.06)
    if plan.pulled:
        values["actor/kl_loss" if plan.grpo else "actor/reward_kl_penalty"] = drift
    return values


def critic(plan: Plan) -> Values:
    """The value head: far off at first, then useful."""
    if plan.grpo:
        return {}
    luck, settled = plan.luck, 1 - np.exp(-np.arange(plan.steps) / plan.luck.uniform(2, 12))
    scale = plan.between(1, 20) if plan.kind == "ppo-reward-model" else 1.0
    late, early = scale * plan.between(0.02, 0.1), scale * plan.between(0.2, 6)
    return {
        "critic/vf_loss": (late + (early - late) * (1 - settled)) * plan.rough(0.25, 0.6),
        "critic/grad_norm": (plan.between(0.5, 20) + plan.between(2, 300) * (1 - settled)) * plan.rough(0.4, 0.3),
        "critic/vf_clipfrac": np.clip(0.09 * (1 - settled) + np.abs(plan.wander(0.004, 0.2)), 0, 1),
        "critic/vf_explained_var": luck.uniform(0.15, 0.6) * settled - 3 * (1 - settled) + plan.wander(0.1, 0.1),
        "critic/advantages/mean": luck.normal(0, 1e-8, plan.steps),
        "critic/lr": np.full(plan.steps, 1e-5),
    }


def lengths(plan: Plan) -> Values:
    """Responses and the time and tokens that they cost."""
    luck = plan.luck
    mean = plan.cap * luck.uniform(0.2, 0.5) * (1 + luck.uniform(-0.35, 0.4) * plan.learnt) * plan.rough(0.03)
    cut = luck.binomial(plan.responses, luck.uniform(0.002, 0.03), plan.steps) / plan.responses
    gen = plan.between(5, 60) * (mean / mean[0]) ** 0.5 * plan.rough(0.06)
    share = luck.uniform(0.1, 0.6)  # for updates; healthy recordings: up to 0.61 of a step
    update = float(np.median(gen)) * share / (1 - share) * plan.rough(0.04)
    slow = 1 + (luck.random(plan.steps) < 0.01) * luck.uniform(0.5, 3, plan.steps)
    step = (gen + update) * luck.uniform(1.05, 1.3) * slow
    return {
        "response_length/mean": mean,
        "response_length/max": np.where(cut > 0, plan.cap, np.minimum(plan.cap, mean * 2.5)),
        "response_length/min": mean * luck.uniform(0.1, 0.4),
        "response_length/clip_ratio": cut,
        "prompt_length/mean": 100 * plan.rough(0.015),
        "timing_s/gen": gen,
        "timing_s/update_actor": update,
        "timing_s/step": step,
        "perf/throughput": (mean + 100) * plan.responses / step,
    }


PARTS: tuple[Callable[[Plan], Values], ...] = (score, policy, critic, lengths)


def simulated(kind: str, seed: int) -> Run:
    """One healthy run."""
    plan = Plan(kind, np.random.default_rng([seed, KINDS.index(kind)]))
    columns = {name: values for part in PARTS for name, values in part(plan).items()}
    builder = RunBuilder(f"{kind}-{seed}", "simulated", canonical)
    builder.add([ConfigRead(plan.config(), user=True, where="simulation")])
    builder.add(_rows(columns, plan.steps))
    return builder.build()


def _rows(columns: Values, steps: int) -> Iterator[Row]:
    for row in range(steps):
        values = {name: float(column[row]) for name, column in columns.items() if not math.isnan(column[row])}
        yield Row(values, row + 1)


def wilson(hits: int, runs: int) -> tuple[float, float]:
    """95 % confidence interval of a share."""
    z, share = 1.96, hits / runs
    centre, half = share + z * z / (2 * runs), z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return (centre - half) / (1 + z * z / runs), (centre + half) / (1 + z * z / runs)


def main() -> None:
    """Simulate, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="how many, over all kinds")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--show", action="store_true", help="one line for each alarm")
    wanted = parser.parse_args()
    alarms: dict[str, list[tuple[str, int, str]]] = {kind: [] for kind in KINDS}
    each = wanted.runs // len(KINDS)
    for kind in KINDS:
        for seed in range(wanted.first, wanted.first + each):
            alarm = first_alarm(simulated(kind, seed), Severity.INFO)
            if alarm:
                alarms[kind].append((f"{kind}-{seed}", *alarm))
    print("| kind | runs | with an alarm | alarms |\n|---|---:|---:|---|")
    for kind, found in alarms.items():
        names = Counter(name for _, _, name in found)
        said = ", ".join(f"{name} {count}" for name, count in names.most_common())
        print(f"| {kind} | {each} | {len(found)} | {said or '-'} |")
    hits, runs = sum(map(len, alarms.values())), each * len(KINDS)
    low, high = wilson(hits, runs)
    print(f"\n{hits} of {runs} runs, {hits / runs:.1%} (95 % confidence interval {low:.1%} to {high:.1%})")
    for found in alarms.values() if wanted.show else ():
        for name, rows, rule in found:
            print(f"{name}: {rule} after {rows} rows")


if __name__ == "__main__":
    main()
