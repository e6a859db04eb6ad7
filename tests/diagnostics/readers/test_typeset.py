"""What editors, mailers and chats put into a metric line is told, each sign of theirs by itself."""

import pytest

from klinic.diagnostics.readers.text.typeset import typeset


@pytest.mark.parametrize(
    "line",
    [
        "step:1\u00a0-\u00a0actor/lr:0.5",
        "step:1 \u2013 actor/lr:0.5",
        "step:1 \u2212 actor/lr:0.5",
        "step:\u00ad1 - actor/lr:0.5",
        "step:\u200b1 - actor/lr:0.5",
        "step:\u20601 - actor/lr:0.5",
        "step:\ufeff1 - actor/lr:0.5",
        "step\uff1a1 - actor/lr:0.5",
        "{\u201cstep\u201d: 1, \u201clr\u201d: 0.5}",
        "{\uff02step\uff02: 1, \uff02lr\uff02: 0.5}",
    ],
)
def test_each_sign_is_seen(line: str) -> None:
    assert typeset(f"INFO starting\n{line}\n".encode())


@pytest.mark.parametrize("line", ["step:1 - actor/lr:0.5", "a \u2013 b \u201cc\u201d step: 1", "5%|\u2588\u258f | 1/2"])
def test_a_log_that_nobody_made_prettier_is_not(line: str) -> None:
    assert not typeset(f"INFO starting\n{line}\n".encode())
