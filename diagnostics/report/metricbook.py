"""The book of metrics: what each means, its unit, what healthy runs show, what others call it; Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from klinic.diagnostics.knowledge.metrics import MetricInfo, derived_patterns, entry, known_patterns, spread
from klinic.diagnostics.knowledge.names import other_names
from klinic.diagnostics.report.pages import bullet, code, para, prose
from klinic.diagnostics.report.phrases import sentence
from klinic.diagnostics.report.words import bounds, number

MADE = "<!-- Made by `klinic rules docs` from metrics.yaml, derived.yaml and aliases.yaml of diagnostics/knowledge. -->"
TITLES = {
    "policy": "Policy", "kl": "KL to the reference", "critic": "Critic", "reward": "Reward and advantages",
    "length": "Lengths and turns", "validation": "Validation", "offpolicy": "Off-policy and rollout",
    "performance": "Performance", "memory": "Memory", "data": "Data and counters", "moe": "Mixture of experts",
}  # fmt: skip
ARROWS = {"higher_is_better": "higher is better", "lower_is_better": "lower is better", "neither": ""}


def metric_page() -> str:
    """The page: families in a fixed order, the metrics of each in the order of metrics.yaml, derived signals last."""
    infos = [entry(pattern) for pattern in known_patterns()]
    families = {family: list(group) for family, group in groupby(sorted(infos, key=_place), key=lambda i: i.panel)}
    total = len(infos)
    parts = [
        f"# Metrics\n\n{MADE}",
        para(
            f"{total} entries in verl 0.9.1's names; `{{a,b}}` stands for either word, `<name>` and `*` for any. "
            "klinic maps what older releases and other frameworks write onto these names. Three KLs are kept apart: "
            "update KL (`actor/ppo_kl`), reference KL (`actor/kl_loss`, `actor/reward_kl_penalty`) and rollout KL "
            "(`rollout_corr/*`). `klinic explain NAME` shows an entry, and the rules that read it, in the terminal."
        ),
        "\n".join(f"- [{title(family)}](#{_anchor(title(family))})" for family in [*families, "derived"]),
    ]
    for family, group in families.items():
        parts += [f"## {title(family)}", "\n".join(map(_entry, group))]
    return "\n\n".join([*parts, *_derived()]) + "\n"


def title(family: str) -> str:
    """Heading of a family of metrics."""
    return "Derived signals" if family == "derived" else TITLES.get(family, family.capitalize())


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _place(info: MetricInfo) -> int:
    known = list(TITLES)
    return known.index(info.panel) if info.panel in known else len(known)


def _entry(info: MetricInfo) -> str:
    """One bullet: name, unit, range or why there is none, meaning, when it is logged, other names."""
    elsewhere = _elsewhere(info)
    parts = [f"**{code(info.pattern)}** ({_unit(info)}{_healthy(info)}).", _meaning(info)]
    return bullet(" ".join([*parts, *([f"Elsewhere: {elsewhere}."] if elsewhere else [])]))


def _unit(info: MetricInfo) -> str:
    return "" if info.unit in ("none", "see name") else f"{info.unit}; "


def _healthy(info: MetricInfo) -> str:
    """The range, or why there is none."""
    if info.low is None and info.high is None:
        return f"no range: {prose(info.no_range)}"
    return f"healthy: {number(info.low) if info.low == info.high else bounds(info.low, info.high)}"


def _meaning(info: MetricInfo) -> str:
    better = ARROWS[info.direction]
    verb = "Known" if info.formula else "Logged"
    logged = sentence(f"{verb} {info.when}" if info.when.split()[0] in _WORDS else f"{verb}: {info.when}")
    return " ".join(filter(None, (prose(info.meaning), sentence(better), prose(logged))))


_WORDS = ("always", "at", "with", "where", "on", "not")


def _elsewhere(info: MetricInfo) -> str:
    """Names by framework: `TRL kl, objective/kl; AReaL kl`."""
    pairs = dict.fromkeys(pair for name in (*spread(info.pattern), info.pattern) for pair in other_names(name))
    by_framework = groupby(sorted(pairs, key=lambda pair: [*FRAMEWORKS].index(pair[0])), key=lambda pair: pair[0])
    return "; ".join(
        f"{FRAMEWORKS[framework]} {', '.join(code(raw) for _, raw in group)}" for framework, group in by_framework
    )


FRAMEWORKS = {
    "trl": "TRL", "openrlhf": "OpenRLHF", "nemo_rl": "NeMo-RL", "areal": "AReaL", "slime": "slime",
    "cosmos": "Cosmos-RL", "torchforge": "torchforge", "verl": "older verl and forks", "generic": "plain tables",
}  # fmt: skip


def _derived() -> Iterator[str]:
    yield f"## {title('derived')}"
    yield para(
        "Computed from what the log holds, by a formula in [the grammar of cards](grammar.md); a card may use the "
        "formula through `let`."
    )
    for pattern in derived_patterns():
        info = entry(pattern)
        lines = [bullet(f"{code(info.formula)}"), *(bullet(f"where {code(f'{n} = {t}')}") for n, t in info.let)]
        if info.name != "".join(spread(pattern)):
            lines.append(bullet("`{1}` is the word in braces"))
        facts = para(f"Unit: {info.unit}; {_healthy(info)}.")
        yield "\n\n".join([f"### {code(pattern)}", para(_meaning(info)), facts, "\n".join(lines)])
