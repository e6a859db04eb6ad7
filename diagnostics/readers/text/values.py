"""Numbers as trainers print them."""

from __future__ import annotations

import re

_WRAPPED = re.compile(
    r"(?:(?:np|numpy|torch|jnp)\.)?(?:float|int|uint|bfloat|bool|tensor|array|Array)(?:\d+|_)?\(\s*([^,()]*?)\s*(?:,[^()]*)?\)"
)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE)
_PLAIN = re.compile(r"-?\d+\.(\d+)")
_DECIMAL_COMMA = re.compile(r":-?(?:0|\d+(?=,(?!\d{3}(?:\D|$)))),\d+(?:[eE][-+]?\d+)?(?= - | -$|\s*$)")
_COMMA = re.compile(r"(:-?\d+),(\d+(?:[eE][-+]?\d+)?(?= - | -$|\s*$))")
_GROUPED = re.compile(r":-?\d{1,3}(?:,\d{3})+(?:\.\d*)?(?= - | -$|\s*$)")
WORDS = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}


def number(raw: str) -> float | None:
    """A float for `0.5`, `nan`, `Infinity`, `np.float64(nan)`, `tensor(1., device='cuda:0')`, `True`; else None."""
    raw = raw.strip()
    if not raw or "_" in raw.partition("(")[0]:
        return None
    if raw in WORDS:
        return WORDS[raw]
    match = _WRAPPED.fullmatch(raw) if raw[-1] == ")" else None
    if match:
        return number(match[1])
    return _float(raw)


def _float(raw: str) -> float | None:
    try:
        return float(raw)
    except ValueError:
        return None


def leading_number(raw: str) -> float | None:
    """The number that `raw` starts with where foreign text is glued to its end (`12.3Training Progress`)."""
    match = _WRAPPED.match(raw) or _NUMBER.match(raw)
    if (
        not match
        or raw[match.end() : match.end() + 1] in (".", "_", "/")
        or raw[match.end() : match.end() + 1].isdigit()
        or raw[:2].lower() == "0x"
    ):
        return None
    return number(match.group())


def leading_text(raw: str) -> str:
    """The number at the start of `raw` as it was spelled, or all of it where there is none."""
    match = _WRAPPED.match(raw) or _NUMBER.match(raw)
    return match.group() if match else raw


def decimals(raw: str) -> int | None:
    """Digits after the point of a plainly printed number (`0.000` -> 3); None for any other spelling."""
    match = _PLAIN.fullmatch(raw.strip())
    return len(match[1]) if match else None


def with_points(body: str) -> str:
    """The items with numbers as Python spells them, where a locale or a tool wrote `0,25` or `1,234.5`.

    One surely decimal comma (no group of three digits, or after a zero) makes all of the line decimal.
    """
    if "," not in body:
        return body
    if _DECIMAL_COMMA.search(body):
        return _COMMA.sub(r"\1.\2", body)
    return _GROUPED.sub(lambda match: match[0].replace(",", ""), body)
