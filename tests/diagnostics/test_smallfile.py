"""What never ends is refused where a person's own file is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.files import pipe, smallfile

PLAIN = str(Path(__file__).parents[1] / "data/hostile/plain.log")
SAID = {"device": "a device, no file", "pipe": "a pipe that nobody writes to", "large": "more than 1 MiB"}
PLACES = {
    "it.yaml": ("diagnose", PLAIN, "--config", "it.yaml"),
    "cards/it.yaml": ("diagnose", PLAIN, "--rules", "cards"),
    "klinic.yaml": ("check", PLAIN, "--config", "klinic.yaml"),
    "expected.yaml": ("ward", "."),
}


@pytest.mark.parametrize("kind", ["device", "pipe", "large"])
@pytest.mark.parametrize("place", PLACES)
def test_it_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pipe, "WAIT", 0.1)
    monkeypatch.setattr(smallfile, "MOST", 1 << 20)
    Path(place).parent.mkdir(exist_ok=True)
    Path("x.log").write_bytes(Path(PLAIN).read_bytes())
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        Path(place).symlink_to("/dev/zero")
    else:
        Path(place).write_bytes(b"# " + b"x" * (2 << 20))
    with pytest.raises(SystemExit) as left:
        main([*PLACES[place]])
    assert left.value.code == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert SAID[kind].lower() in err.lower()


@pytest.mark.parametrize("kind", ["a list", "a word", "a folder", "a link to nothing"])
def test_a_gate_that_cannot_be_read_is_no_open_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    gate = Path("klinic.yaml")
    if kind == "a folder":
        gate.mkdir()
    elif kind == "a link to nothing":
        gate.symlink_to("nowhere")
    else:
        gate.write_text({"a list": "- check\n", "a word": "check\n"}[kind])
    with pytest.raises(SystemExit) as left:
        main(["check", PLAIN])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("klinic: klinic.yaml:1:1: ")
