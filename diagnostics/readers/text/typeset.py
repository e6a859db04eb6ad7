"""Text that programs for people changed: dashes, spaces, quotes and signs of no width; or escaped into one line."""

from __future__ import annotations

import re

_SPACE = rb"(?: |\xc2\xa0)"
_FIXED_SPACE, _WIDE_COLON = "\u00a0".encode(), "\uff1a".encode()
_PRETTIER = re.compile(_SPACE + rb"(?:-|\xe2\x80[\x90-\x95]|\xe2\x88\x92)" + _SPACE)  # hyphens, dashes, a minus
# Soft hyphens, spaces and joiners of no width, as Feishu, Teams and Confluence put them at places to break a line.
_WIDTHLESS = re.compile(rb"\xc2\xad|\xe2\x80[\x8b-\x8d]|\xe2\x81\xa0|\xef\xbb\xbf")
_CURLY = re.compile(rb"\xe2\x80[\x9c-\x9f]|\xef\xbc\x82")
_TYPESET = re.compile(
    rb"\bstep:\d+(?! - )" + _PRETTIER.pattern + rb"[^\n]{1,80}:"
    rb"|\bstep(?:" + _WIDTHLESS.pattern + rb")*(?::(?:" + _WIDTHLESS.pattern + rb")+|\xef\xbc\x9a)\d"
    rb"|^\{\s*(?:" + _CURLY.pattern + rb")[\w/]",
    re.MULTILINE,
)
# One of these begins each sign that such a program puts in; they are found much sooner than the pattern.
_SIGNS = (b"\xc2\xa0", b"\xc2\xad", b"\xe2\x80", b"\xe2\x81\xa0", b"\xe2\x88\x92", b"\xef\xbb\xbf", b"\xef\xbc")
# How a string is spelled in JSON, Python and C.
_SIGN = re.compile(rb"\\(?:n|r|t|\"|'|\\|x1b|u001b|033|e(?=\[))")
_MEANT = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b'"': b'"', b"'": b"'", b"\\": b"\\"}
_STRING = re.compile(rb"\s*(?:b|r|f)?([\"'])(.*)\1[,;)\s]*", re.DOTALL)
_QUOTED = re.compile(rb"\s*(?:b|r|f)?[\"']")
FEW = 3  # ends of lines


class Typeset:
    """Text that an editor, a mailer or a chat made prettier: dashes, quotes, spaces, colons of Chinese texts."""

    def take(self, line: bytes) -> bytes:
        """The line as a program prints it."""
        line = _PRETTIER.sub(b" - ", _WIDTHLESS.sub(b"", line)).replace(_FIXED_SPACE, b" ")
        return _CURLY.sub(b'"', line).replace(_WIDE_COLON, b":") + b"\n"


class Escaped:
    """A log as one string of a program (`repr`, a field of JSON that was copied): its line ends stand as `\\n`."""

    def take(self, line: bytes) -> bytes:
        """The lines that the string holds."""
        match = _STRING.fullmatch(line)
        return _SIGN.sub(_meant, match[2] if match else line) + b"\n"


def typeset(data: bytes) -> bool:
    """Whether the beginning of a source was made prettier."""
    return any(sign in data for sign in _SIGNS) and bool(_TYPESET.search(data))


def escaped(data: bytes) -> bool:
    """Whether the beginning of a source is a string, in which nearly all ends of lines are escaped."""
    return bool(_QUOTED.match(data)) and data.count(b"\\n") >= max(FEW, 10 * data.count(b"\n"))


def _meant(found: re.Match[bytes]) -> bytes:
    return _MEANT.get(found[0][1:], b"\x1b")
