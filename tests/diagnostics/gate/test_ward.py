"""A ward round on a small ward: a right one, a miss, a wrong root, a false alarm, a bad label."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from klinic.diagnostics.cli import main
from klinic.diagnostics.gate.groups import groups
from klinic.diagnostics.gate.tally import misses, per_rule, tally
from klinic.diagnostics.gate.ward import judge_ward

H200 = Path(__file__).parents[3] / "sample_logs" / "h200"


pytestmark = pytest.mark.slow  # whole rounds


def bed(ward, name, recording, *files, seed=1, **expect):
    """A labelled copy of a recording's files."""
    folder = ward / name
    folder.mkdir(parents=True)
    for file in files or ("metrics.jsonl", "command.txt"):
        shutil.copy(H200 / recording / file, folder)
    (folder / "expected.yaml").write_text(yaml.safe_dump({"seed": seed, "fault": recording, "expect": expect}))
    return folder


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """Six beds; what is wrong with each stands in its name."""
    ward = tmp_path_factory.mktemp("ward")
    hot, short = "ppo_lr_too_high", "ppo_response_too_short"
    bed(ward, "a-right", hot, verdict=["sick"], root_cause=["update-too-large"], first_step=[1, 3])
    bed(ward, "b-healthy", "ppo_resumed", seed=2, verdict=["healthy"], at_most="info")
    bed(ward, "c-missed", "ppo_resumed", seed=2, verdict=["sick"], root_cause=["nan-inf"], first_step=[15, 20])
    bed(ward, "d-false-alarm", short, verdict=["healthy"], at_most="info")
    bed(ward, "e-other-root", hot, seed=3, verdict="sick", root_cause="reward-collapse", first_step=[11, 20])
    bed(ward, "f-incident", "err_hydra_typo", "console.log.gz", verdict=["sick"], incident=["hydra-unknown-key"])
    return ward


@pytest.fixture(scope="module")
def judged(ward):
    return {Path(recording.path).parent.name: recording for recording in judge_ward(ward)}


def test_each_bed_is_judged_as_its_label_says(judged):
    assert list(judged) == ["a-right", "b-healthy", "c-missed", "d-false-alarm", "e-other-root", "f-incident"]
    right = judged["a-right"]
    assert (right.found, right.rooted, right.verdict_right, right.onset_error) == (True, True, True, 0)
    assert judged["b-healthy"].found is None and judged["b-healthy"].false_alarm is None
    assert judged["c-missed"].found is False and judged["c-missed"].onset_error is None
    rows, name = judged["d-false-alarm"].false_alarm
    assert name == "truncation-high" and rows > 3
    other = judged["e-other-root"]
    assert (other.found, other.rooted) == (True, False)
    assert other.onset_error == 6  # found at step 5, labelled from 11 on
    assert judged["f-incident"].found is True and judged["f-incident"].rooted is None


def test_the_figures_count_them(judged):
    figures = tally(list(judged.values()))
    assert (figures.recall.hit, figures.recall.of) == (3, 4)
    assert (figures.root_cause.hit, figures.root_cause.of) == (1, 3)
    assert (figures.precision.hit, figures.precision.of) == (3, 4)
    assert (figures.quiet.hit, figures.quiet.of) == (1, 2)
    assert (figures.verdict.hit, figures.verdict.of) == (4, 6)
    assert figures.onset == 3 and str(figures.onset_within_5) == "1/2 (50 %)"


def test_every_wrong_one_has_a_line(judged):
    said = "\n".join(misses(list(judged.values())))
    assert "c-missed/metrics.jsonl: missed nan-inf; found" in said
    assert "d-false-alarm/metrics.jsonl: false alarm truncation-high after" in said
    assert "e-other-root/metrics.jsonl: the root cause should be reward-collapse" in said
    assert "e-other-root/metrics.jsonl: onset 6 steps off" in said
    assert "a-right" not in said and "b-healthy" not in said and "f-incident" not in said


def test_rules_and_groups_are_counted_apart(judged):
    rules = per_rule(list(judged.values()))
    assert set(rules) == {"update-too-large", "nan-inf", "reward-collapse", "hydra-unknown-key"}
    assert str(rules["nan-inf"].recall) == "0/1 (0 %)"
    parted = {name: [Path(p.path).parent.name[0] for p in ps] for name, ps in groups(list(judged.values())).items()}
    assert parted["seed 1, on which rules are tuned"] == ["a", "d", "f"]
    assert parted["other seeds and sources"] == ["b", "c", "e"]
    assert (parted["faults from step 1"], parted["later onsets"]) == (["a"], ["c", "e"])


def run(*words):
    return CliRunner().invoke(main, ["ward", *map(str, words)])


def test_json_has_both_columns(ward):
    result = run(ward, "--both", "--format", "json", "--no-prefixes")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert told["config"] is True and told["all"]["recall"] == {"hit": 3, "of": 4}
    assert told["without_config"]["all"]["recall"]["of"] == 4
    assert told["groups"]["later onsets"]["recall"] == {"hit": 1, "of": 2}
    missed = told["patients"][2]
    assert (missed["found"], missed["seed"], missed["verdict"]) == (False, 2, "healthy")


def test_text_and_markdown_say_the_same_figures(ward):
    text = run(ward, "--both", "--no-prefixes").stdout
    page = run(ward, "--both", "--no-prefixes", "--format", "markdown").stdout
    assert text.startswith("6 labelled recordings. Without the configs ")
    assert f"Made by `klinic ward {ward} --both --format markdown`" in page
    assert "| all recordings | 3/4 (75 %) | 1/3 (33 %) |" in page
    assert "found, with config" in page and "found, without config" in page
    assert "all recordings found 3/4 (75 %), root cause 1/3 (33 %)" in " ".join(text.split())
    assert "c-missed" in text and "c-missed" in page


def test_seeds_choose(ward):
    told = json.loads(run(ward, "--seeds", "others", "--format", "json", "--no-prefixes").stdout)
    assert [Path(recording["path"]).parent.name[0] for recording in told["patients"]] == ["b", "c", "e"]


def test_all_right_is_exit_0(ward):
    assert run(ward / "a-right").exit_code == 0


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("seed: 1\n", "no usable `expect`"),
        ("expect: {verdict: sick, root_causes: [x]}\n", "unknown key 'root_causes'"),
        ("expect: {verdict: healthy, at_most: nothing}\n", "at_most is 'nothing'"),
        ("expect: [\n", "no usable `expect`"),
        ("expect: {verdict: sick, root_cause: nan-inf, first_step: [1]}\n", "first_step"),
        ("expect: {verdict: sick, root_cause: update-to-large}\n", "no rule 'update-to-large'"),
        ("expect: {verdict: ill}\n", "verdict"),
    ],
)
def test_a_bad_label_is_one_line(tmp_path, label, message):
    shutil.copy(H200 / "ppo_resumed" / "metrics.jsonl", tmp_path)
    (tmp_path / "expected.yaml").write_text(label)
    result = run(tmp_path)
    assert result.exit_code == 2
    assert message in result.stderr and "expected.yaml" in result.stderr and result.stderr.count("\n") == 1


def test_an_empty_ward_says_so(tmp_path):
    result = run(tmp_path)
    assert result.exit_code == 2 and "no labelled run" in result.stderr


def test_both_and_no_config_exclude_each_other(ward):
    assert run(ward, "--both", "--no-config").exit_code == 2
