"""What text and Markdown reports say alike: when a finding held, what showed it, what was read."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.engine.model import Evidence, Finding
from klinic.diagnostics.engine.story import capital
from klinic.diagnostics.language import catalog, tr, translated
from klinic.diagnostics.language import current_language as language
from klinic.diagnostics.report.expressionwords import Lang, condition, in_words, listing, opens_the_way, side
from klinic.diagnostics.report.words import count, listed, number, steps
from klinic.diagnostics.run import Outline, Run

SHARE = "share of "
LATER = " or later"  # what a reader says of a release that it tells by its metrics
UNSAID = ("coefficient", "share", "reward", "learning rate", "mean probability difference")  # no measure: said above
SEEN = 4  # metrics shown of a comparison that is too involved for words


def when(finding: Finding) -> str:
    """`from step 41 on`, `steps 41 to 60, 2 episodes, attempt 2, error at its worst`."""
    words = steps(finding.first_step, finding.last_step, running=not finding.closed)
    if len(finding.episodes) > 1:
        words += tr(", {} episodes", len(finding.episodes))
    if finding.attempt > 1:
        words += tr(", attempt {}", finding.attempt)
    return words if finding.peak <= finding.severity else tr("{}, {} at its worst", words, tr(str(finding.peak)))


def doubts(finding: Finding) -> list[str]:
    """Why the confidence is not high: what else could have done the same, and where such a sign misleads."""
    if finding.confidence == "high":
        return []
    wrong = [tr("When it is wrong: {}.", finding.wrong_when)] if finding.wrong_when else []
    return [rivals(finding), *wrong] if finding.rivals else wrong


def rivals(finding: Finding) -> str:
    """What else could have done the same; "" where nothing else could."""
    if not finding.rivals:
        return ""
    return tr("Less certain: {} may be the cause as well.", listing(finding.rivals, language()))


def evidence_words(evidence: Evidence, lang: Lang | None = None) -> str:
    """`actor/ppo_kl: median of the last 5 absolute values was 4.93, above 0.02 nats/token, at step 41`.

    What is too involved for words is shown by the metrics that it reads, with their values. lang: the one spoken.
    """
    lang = lang or language()
    text = in_words(evidence.expression, lang) if evidence.expression else shortened(evidence.text.replace("'", ""))
    if text is None:
        return _read_off(evidence, lang)
    if evidence.value is None or evidence.bound is None:
        return (
            _at(text, evidence.step, lang) if lang == "zh" or evidence.expression else f"{text} at step {evidence.step}"
        )
    gap = " " if text[-1:].isascii() else ""
    was = f"{gap}为 {number(evidence.value)}，" if lang == "zh" else f" was {number(evidence.value)}, "
    return _at(f"{text}{was}{_bound(evidence, lang)}", evidence.step, lang)


def _at(text: str, step: int, lang: Lang) -> str:
    """A text with its step: in Chinese in brackets, in the ones that it ends with where there are such."""
    if lang == "en":
        return f"{text}, at step {step}"
    return f"{text[:-1]}，第 {step} 步）" if text.endswith("）") else f"{text}（第 {step} 步）"


def _bound(evidence: Evidence, lang: Lang) -> str:
    return f"{side(evidence.op, lang)} {_measured(number(evidence.bound), evidence.unit, lang)}"


def _measured(bound: str, unit: str, lang: Lang) -> str:
    """A bound with its unit as it is said: `0.02 nats/token`, `0.5 of responses`; alone where that measures nothing."""
    if unit in UNSAID or not unit:
        return bound
    told = catalog(lang).get(unit, unit)
    if lang == "zh":
        return f"{bound}（{told}）" if unit.startswith("share") else f"{bound} {told}"
    return f"{bound} of {unit.removeprefix(SHARE)}" if unit.startswith(SHARE) else f"{bound} {unit}"


def _read_off(evidence: Evidence, lang: Lang) -> str:
    """`a/x = 0.01 and a/y = 0.3 at step 41; from these the rule computes 0.97, above 0.5 share of responses`."""
    seen = listing([f"{name} = {number(value)}" for name, value in evidence.seen[:SEEN]], lang) or shortened(
        evidence.text
    )
    text = f"第 {evidence.step} 步：{seen}" if lang == "zh" else f"{seen} at step {evidence.step}"
    if evidence.value is None or evidence.bound is None:
        return text
    value, bound = number(evidence.value), _bound(evidence, lang)
    if lang == "zh":
        return f"{text}；规则由此算得 {value}，{bound}"
    return f"{text}; from {'these' if len(evidence.seen) > 1 else 'it'} the rule computes {value}, {bound}"


def shortened(text: str, width: int = 76) -> str:
    """An expression cut to what a line can show."""
    return text if len(text) <= width else f"{text[: width - 3].rstrip()}..."


def telling(evidence: Sequence[Evidence], most: int = 3) -> list[Evidence]:
    """The comparisons worth showing, each once, as they first held: those with numbers where there are any.

    How long or whether something was logged opens the way for a rule; it is shown only where nothing else is.
    """
    told = [item for item in evidence if not opens_the_way(item.expression)] or evidence
    numeric = [item for item in told if item.value is not None and item.bound is not None]
    first: dict[str, Evidence] = {}
    for item in numeric or told:
        first.setdefault(item.text, item)
    return list(first.values())[:most]


def sentence(text: str) -> str:
    """Text with a capital at its beginning and a full stop at its end."""
    text = capital(text.strip())
    return text + ("" if not text or text.endswith((".", "?", "。", "？")) else tr("."))


def source_words(run: Run | Outline) -> str:
    """What was read: writer, format, steps, attempts, where the config was found."""
    since = run.source.version.removesuffix(LATER)
    version = run.source.version if since == run.source.version else tr("{} or later", since)
    writer = " ".join(filter(None, (run.source.framework, version)))
    writer = "" if writer == run.source.format else writer
    parts = [tr("read as {}", run.source.format) if run.source.format else "", tr("{} run", writer) if writer else ""]
    if run.steps is not None:
        parts.append(tr("{} ({})", steps(*run.steps), count(run.rows, "row")))
    if len(run.attempts) > 1:
        parts.append(count(len(run.attempts), "attempt"))
    where = [translated(place) for place in run.config.where]
    parts.append(tr("config from {}", listed(where)) if run.config else tr("no config found"))
    return sentence(tr(", ").join(filter(None, parts)))


def lacking(missing: str) -> str:
    """`no critic/vf_loss` for missing metrics; when a rule judges, in words; other reasons as they are."""
    for lead in (tr("judged only where {}", ""), tr("unknown whether {}", "")):
        if missing.startswith(lead):
            return lead + condition(missing.removeprefix(lead), language())
    is_metric = "/" in missing.split()[0] if missing else False
    return tr("no {}", missing.replace(" | ", tr(" or "))) if is_metric else missing
