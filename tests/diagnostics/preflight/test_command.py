"""The command: formats, exit statuses, the corrected launch, errors of one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main

pytestmark = pytest.mark.slow  # a composition of verl's whole config each

GOOD = [
    "algorithm.adv_estimator=grpo",
    "actor_rollout_ref.rollout.name=vllm",
    "actor_rollout_ref.rollout.n=8",
    "actor_rollout_ref.actor.use_dynamic_bsz=True",
    "trainer.logger=console",
    "trainer.save_freq=10",
]


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["preflight", "--gpus", "8", *words])
    shown = capsys.readouterr()
    return int(left.value.code or 0), shown.out, shown.err


def test_in_order_is_0_and_a_finding_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(*GOOD, capsys=capsys)
    assert code == 0
    assert "nothing found" in out
    code, out, _ = run(*GOOD, "data.train_bach_size=8", capsys=capsys)
    assert code == 1
    assert "[KEY key-unknown]" in out
    assert "write data.train_batch_size=8" in out


def test_select_and_ignore(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*GOOD, "data.train_bach_size=8", "--ignore", "key-*", capsys=capsys)[0] == 0
    assert run(*GOOD, "data.train_bach_size=8", "--select", "VERL", capsys=capsys)[0] == 0


def test_sarif_names_the_line(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    code, out, _ = run(str(data / "seed_p40.sh"), "-f", "sarif", capsys=capsys)
    results = json.loads(out)["runs"][0]["results"]
    lines = [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in results]
    assert code == 1
    assert {25, 26} <= set(lines)
    rules = json.loads(out)["runs"][0]["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in results)


def test_github_and_json(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    _, out, _ = run(str(data / "seed_p40.sh"), "-f", "github", capsys=capsys)
    assert any(line.startswith("::error file=") and ",line=25,col=5,title=" in line for line in out.splitlines())
    _, out, _ = run(str(data / "seed_p40.sh"), "-f", "json", capsys=capsys)
    report = json.loads(out)
    assert report["batch"]["responses"] == 1
    assert all(one["line"] > 0 and one["message"] for one in report["findings"])


def test_gitlab_has_the_lines_and_an_unknown_format_is_told(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    code, out, _ = run(str(data / "seed_p40.sh"), "-f", "gitlab", capsys=capsys)
    found = json.loads(out)
    assert code == 1
    assert {25, 26} <= {one["location"]["lines"]["begin"] for one in found}
    assert len({one["fingerprint"] for one in found}) == len(found)
    code, out, err = run(*GOOD, "-f", "gitlb", capsys=capsys)
    assert (code, out) == (2, "")
    assert "did you mean gitlab" in err


def test_files_outside_of_the_roots_are_not_looked_at(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    inner, outer = tmp_path / "in", tmp_path / "out"
    for folder in (inner, outer):
        folder.mkdir()
        (folder / "train.jsonl").write_text('{"text": "no prompt"}\n')
    (inner / "way").symlink_to(outer)
    launch = (*GOOD, "data.train_files={}", "--root", str(inner))

    def names(where: str) -> list[str]:
        _, out, _ = run(*(word.format(where) for word in launch), "-f", "json", "--select", "FILE", capsys=capsys)
        return [one["name"] for one in json.loads(out)["findings"]]

    assert names(f"{inner}/train.jsonl") == ["data-schema"]
    assert names(f"{inner}/gone.jsonl") == ["data-missing"]
    assert names(f"{outer}/train.jsonl") == names(f"{outer}/gone.jsonl") == names(f"{inner}/way/train.jsonl") == []


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("nowhere", ["model-unnamed"]),
        ("a/b/c", ["model-unnamed"]),
        ("-a/b", ["model-unnamed"]),
        ("/no/such/folder", ["model-missing"]),
        ("{here}/file", ["model-no-folder"]),
        ("{here}", ["model-incomplete"]),
        ("Qwen/Qwen2.5-0.5B", []),
        ("hdfs://cluster/models/a", []),
        ("$MODEL", []),
    ],
)
def test_a_model_that_is_no_folder_and_no_name_of_the_hub_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str, found: list[str]
) -> None:
    (tmp_path / "file").write_bytes(bytes(range(256)))
    word = f"actor_rollout_ref.model.path={model.format(here=tmp_path)}"
    _, out, _ = run(*GOOD, word, "-f", "json", "--select", "FILE", capsys=capsys)
    assert [one["name"] for one in json.loads(out)["findings"]] == found


def test_fix_writes_a_launch(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "fixed.sh"
    code, shown, _ = run(*GOOD, "data.train_bach_size=512", "--fix", "--out", str(out), capsys=capsys)
    assert (code, shown) == (0, "")
    assert "data.train_batch_size=512" in out.read_text()
    assert "bach" not in out.read_text()


@pytest.mark.parametrize("words", [["nowhere.sh"], ["=1"], ["--gpu", "abacus", *GOOD], ["a.yaml", "b.yaml"]])
def test_what_cannot_be_read_is_2(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    code, out, err = run(*words, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
