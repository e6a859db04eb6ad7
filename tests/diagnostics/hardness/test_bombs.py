"""YAML and regular expressions that would take forever, everywhere that they are read from."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import yaml

from klinic.dashboards.pages import explore
from klinic.diagnostics.cli import main
from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.engine.slowpattern import nested_repeat
from klinic.diagnostics.yamlfiles import safeyaml

pytestmark = pytest.mark.slow

GOOD = Path(__file__).parents[2] / "data/hostile/plain.log"


def laughs(first: str, again: str) -> str:
    """A billion values in ten lines: each stands for nine of the one before."""
    lines = [f"a: &a {first}"]
    lines += [
        f"{new}: &{new} {again.format(*[f'*{old}'] * 9)}" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    return "\n".join(lines) + "\n"


BOMBS = {
    "lists": laughs("[x, x]", "[" + ", ".join(["{}"] * 9) + "]"),
    "mappings": laughs("{x: 1}", "{{" + ", ".join(f"k{at}: {{}}" for at in range(9)) + "}}"),
    "itself": "a: &a {b: *a}\n",
    "itself in a list": "a: &a [*a]\n",
    "deep": "a: " + "[" * 500 + "]" * 500,
    "deep mappings": "".join(" " * depth + "a:\n" for depth in range(500)),
    "too deep for the parser": "a: " + "[" * 20_000 + "]" * 20_000,
    "digits": "a: " + "9" * 6000,
    "no such day": "a: 2024-99-99\n",
    "an object": "a: !!python/object/apply:os.system ['echo pwned > /tmp/pwned']\n",
    "no base64": "a: !!binary '@@@'\n",
}
ASKED: dict[str, tuple[str, tuple[str, ...]]] = {  # where the bomb lies, and the command that reads it there
    "--config": ("x.yaml", ("diagnose", str(GOOD), "--config", "x.yaml")),
    "--profile": ("x.yaml", ("diagnose", str(GOOD), "--profile", "x.yaml")),
    "--rules": ("cards/x.yaml", ("diagnose", str(GOOD), "--rules", "cards")),
    "rules check": ("x.yaml", ("rules", "check", "x.yaml")),
    "rules test": ("x.cases.yaml", ("rules", "test", "x.cases.yaml")),
    "klinic.yaml": ("klinic.yaml", ("check", str(GOOD), "--config", "klinic.yaml")),
    "alerts": ("alerts.yaml", ("alerts", "test", "alerts.yaml")),
    "preflight": ("x.yaml", ("preflight", "x.yaml")),
    "Hydra's config beside a log": (".hydra/config.yaml", ("diagnose", "x.log")),
    "Hydra's overrides beside a log": (".hydra/overrides.yaml", ("diagnose", "x.log")),
    "a label": ("runs/a/expected.yaml", ("ward", "runs")),
}


@pytest.mark.parametrize("where", ASKED)
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_told_in_a_line_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bomb: str, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLINIC_TRACEBACK", "1")  # an error nobody expected fails the test with its place
    place, command = ASKED[where]
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).write_text(BOMBS[bomb], "utf-8")
    for log in (tmp_path / "x.log", Path(place).parent / "x.log"):
        log.write_bytes(GOOD.read_bytes())
    with pytest.raises(SystemExit) as left:
        main([*command])
    out, err = capsys.readouterr()
    assert left.value.code in (0, 1, 2)
    assert len(err) < 3000
    assert "Traceback" not in out + err


@pytest.mark.parametrize("bomb", sorted(BOMBS.keys() - {"no base64"}))
def test_only_a_safe_and_small_document_is_read(bomb: str) -> None:
    with pytest.raises(yaml.YAMLError):
        safeyaml.read(BOMBS[bomb], yaml.SafeLoader)
    assert not Path("/tmp/pwned").exists()


def test_aliases_that_stand_for_little_are_read() -> None:
    assert safeyaml.read("a: &a [1, 2]\nb: *a\nc: {<<: {d: *a}}\n", yaml.SafeLoader) == {
        "a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]},
    }  # fmt: skip


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(a*)*", r"(\w+\s?)*:", r"((a|b+))*", r"(?:\s*\w+\s*)*$"])
def test_a_card_with_a_pattern_of_exponential_time_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    card = next(
        path for path in (Path(__file__).parents[3] / "rules/incident").glob("*.yaml") if "cases" not in path.name
    )
    text = re.sub(
        r"pattern: .*?(, severity|\}|$)",
        lambda m: f"pattern: '{pattern}'{m[1]}",
        card.read_text("utf-8"),
        count=1,
        flags=re.M,
    )
    (tmp_path / card.name).write_text(text, "utf-8")
    with pytest.raises(SystemExit) as left:
        main(["rules", "check", str(tmp_path / card.name)])
    out, err = capsys.readouterr()
    assert left.value.code
    assert "a repeat inside a repeat" in out + err


def test_patterns_that_must_part_their_repeats_are_fine() -> None:
    assert not any(map(nested_repeat, [r"(\w+ )+", r"(?:[\w.]+: )*x", r"a+b+", r"(a{1,5})+", r"x(?P<at>y+)"]))
    built_in = [match.pattern for card in all_cards(()) if card.kind == "incident" for match in card.matches]
    assert len(built_in) > 50
    assert not any(map(nested_repeat, built_in))


class Shown:
    """What the explorer knows of a run: its metrics."""

    def __init__(self, *metrics: str) -> None:
        self.scene = self
        self.run = self
        self.metrics = metrics


def test_the_explorer_takes_any_pattern_in_linear_time() -> None:
    runs = [Shown("a" * 500, "actor/pg_loss", "critic/vf_loss")]
    before = time.process_time()
    assert explore.matching(runs, "(a+)+$b") == []  # type: ignore[arg-type]
    assert explore.matching(runs, "(x+x+)+y|(.*.*.*.*.*)=") == []  # type: ignore[arg-type]
    assert time.process_time() - before < 2
    assert explore.matching(runs, "loss$") == ["actor/pg_loss", "critic/vf_loss"]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unclosed"):
        explore.matching(runs, "(")  # type: ignore[arg-type]
