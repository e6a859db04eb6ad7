"""Config values out of text: launch commands, override files, Hydra's printed override list, printed dicts."""

from __future__ import annotations

import ast
import contextlib
import re
import shlex
import warnings
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.verlconfig.values import parts_of

MAX_TEXT = 4_000_000
LONGEST = 100_000  # of a line that is split as a shell does: the time grows with the square of a word
_DOTTED = re.compile(
    r"(?P<sign>\+{1,2}|~)?(?P<key>[A-Za-z_][\w\-]*(?:[./@:]['\"]?[\w\-]+['\"]?)*)=(?P<value>.*)", re.DOTALL
)
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=(\S.*|)$")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_LAUNCH = re.compile(r"(?:^|\s)(?:-m\s+\S+|\S+\.py|\S+\.sh)(?=\s|$)")
_SEVERAL = re.compile(r"\s(?=[+~]{0,2}[a-z_]\w*(?:\.\w+)+=)")
_FLAG = re.compile(r"--(?P<key>[A-Za-z][\w\-.]*)(?:=(?P<value>.*))?")
# An entry of a printed list of words.
_LISTED = re.compile(r"'((?:[^'\\]|\\.)*)'(?=\s*[,\]])|\"((?:[^\"\\]|\\.)*)\"(?=\s*[,\]])")
_INTEGER = re.compile(r"[-+]?\d+(?:_\d+)*")
_OPAQUE = re.compile(r"<(?:[^<>'\"]|'[^']*')*>")


def parse_overrides(text: str) -> dict[str, Any]:
    """Dotted key -> typed value of a launch command or an overrides file.

    Understands `python3 -m verl.trainer.main_ppo a.b=1 +a.c=x 'a.d=[console]'` with backslash continuations, one
    override a line (quoted or not, with or without a YAML dash) and shell variables set in the same text; `export`
    lines and comments are skipped, deletions (`~key`) too. Values are typed as Hydra types them. Never raises.
    """
    text = re.sub(r"\\[ \t]*\r?\n", " ", text[:MAX_TEXT])
    found: dict[str, Any] = {}
    variables: dict[str, str] = {}
    script = bool(_LAUNCH.search(text))
    for line in text.splitlines():
        launch = bool(_LAUNCH.search(line))
        match = _ASSIGNMENT.match(line)
        if match and not launch and (script or match[1].isupper()):
            variables[match[1]] = match[2].strip().strip("'\"")
            continue
        for token in _tokens(line, variables):
            _read(token, found, bare=launch or not script)
    return found


def parse_flags(text: str) -> dict[str, Any]:
    """Flags of a launch command (`--learning-rate 5e-6 --beta=0.04 --bf16`), dashes as underscores, values typed."""
    words = _words(re.sub(r"\\[ \t]*\r?\n(?:> )?", " ", text[:MAX_TEXT]).replace("\n", " "))
    found: dict[str, Any] = {}
    for word, following in zip(words, [*words[1:], "--"], strict=False):
        match = _FLAG.fullmatch(word)
        if match:
            bare = following.startswith("--") or following in ("|", ">", "2>&1", "&", ";", "&&")
            raw = match["value"] if match["value"] is not None else "true" if bare else following
            found[match["key"].replace("-", "_")] = typed(raw)
    return found


def _expand(word: str, variables: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: variables.get(match[1], match.group()), word) if "$" in word else word


def _tokens(line: str, variables: dict[str, str]) -> Iterator[str]:
    line = line.strip()
    if line.startswith(("#", "export ")):
        return
    for word in _words(line.removeprefix("- ").removeprefix("> ")):
        word = _expand(word, variables).strip()
        yield from _SEVERAL.split(word) if " " in word else [word]


def _words(line: str) -> list[str]:
    """Words as a shell splits them, but quotes inside lists and dicts stay with their value."""
    if len(line) <= LONGEST:
        with contextlib.suppress(ValueError):
            return shlex.split(line, comments=False)
    return [word.strip("'\"") for word in line.split()]


def _read(token: str, found: dict[str, Any], *, bare: bool) -> None:
    match = _DOTTED.fullmatch(token)
    if not match or match["sign"] == "~" or match["key"].isupper():
        return
    if "." not in match["key"] and not (bare or match["sign"]):
        return
    found[re.sub(r"['\"]", "", match["key"])] = typed(match["value"])


def typed(raw: str) -> Any:
    """A value as Hydra's override grammar types it: null, booleans, numbers, quoted strings, lists, dicts, words."""
    raw = raw.strip()
    if raw[:1] in ("[", "{") and raw[-1:] == {"[": "]", "{": "}"}[raw[0]] and len(raw) < 20_000:
        return _collection(raw)
    if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"":
        return raw[1:-1].replace(f"\\{raw[0]}", raw[0])
    return _primitive(raw)


def _primitive(raw: str) -> Any:
    low = raw.lower()
    if low in ("null", "none" if raw == "None" else "null"):
        return None
    if low in ("true", "false"):
        return low == "true"
    if _INTEGER.fullmatch(raw) and len(raw) < 300:
        return int(raw)
    value = number(raw) if raw[:1] in "+-.0123456789nNiI" else None
    return raw if value is None else value


def _collection(raw: str) -> Any:
    parts = parts_of(raw[1:-1])
    if raw[0] == "[":
        return [typed(part) for part in parts]
    pairs = (part.partition(":") for part in parts)
    return {key.strip().strip("'\""): typed(value) for key, _, value in pairs}


def parse_override_list(text: str) -> dict[str, Any]:
    """Overrides out of Hydra's printed list (`['a.b=1', '+c=x', ...]`), also where its end was cut off."""
    found: dict[str, Any] = {}
    for _, one in listed_overrides(text):
        _read(one, found, bare=True)
    return found


def listed_overrides(text: str) -> Iterator[tuple[int, str]]:
    """(place in the text, override) of each in the first list that stands there, as Hydra prints one."""
    start = text.find("[") + 1
    for match in _LISTED.finditer(text[start : start + MAX_TEXT]):
        yield start + match.start() + 1, (match[1] or match[2] or "").replace("\\'", "'")


def parse_python_dict(text: str) -> dict[Any, Any] | None:
    """The first dict printed in `text` (`nan`, `inf`, `np.float64(x)`, `<objects>` allowed), or None.

    A dict whose end is missing is read up to its last complete entry.
    """
    start = text.find("{")
    if start < 0:
        return None
    text = text[start : start + MAX_TEXT]
    end, cut, closers = _extent(text)
    body = text[:end] if end else text[:cut] + closers
    return _parsed(body) or _parsed(_OPAQUE.sub("None", body))


def _extent(text: str) -> tuple[int, int, str]:
    """(end of the first balanced dict or 0, place of the last comma between entries, what closes it there)."""
    stack: list[str] = []
    cut, closers = len(text), ""
    for match in re.finditer(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[\](){},]", text, re.DOTALL):
        letter = match.group()
        if letter in "{[(":
            stack.append({"{": "}", "[": "]", "(": ")"}[letter])
        elif letter in "}])":
            if not stack or stack.pop() != letter:
                break
            if not stack:
                return match.end(), 0, ""
        elif letter == "," and stack:
            cut, closers = match.start(), "".join(reversed(stack))
    return 0, cut, closers


def _parsed(body: str) -> dict[Any, Any] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(body, mode="eval").body
        value = _value(tree)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict) else None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {_value(key): _value(value) for key, value in pairs if key is not None}
        case ast.List() | ast.Tuple() | ast.Set():
            return [_value(item) for item in node.elts]
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand)
        case ast.Name() | ast.Attribute():
            word = ast.unparse(node)
            value = number(word.rpartition(".")[2])
            return word if value is None else value
        case ast.Call() if node.args:
            return _value(node.args[0])
    return ast.unparse(node)
