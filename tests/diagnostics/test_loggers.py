"""One recorded run as each of verl's loggers wrote it: the same diagnosis, whatever file it is read from."""

from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Config

pytestmark = pytest.mark.slow

RUN = Path(__file__).parents[2] / "sample_logs" / "loggers" / "actor-lr-too-high-s4"


def onsets(run):
    return {(finding.name, finding.first_step, finding.severity) for finding in diagnose(run).findings}


def cures(run):
    return {(one.key, str(one.new)) for one in diagnose(run).prescription}


@pytest.mark.parametrize("form", ["console", "wandb"])
def test_where_the_config_is_written_too_all_is_as_in_the_run_directory(form):
    ours, theirs = open_run(RUN / "klinic"), open_run(RUN / form)
    assert theirs.config
    assert onsets(theirs) == onsets(ours)
    assert cures(theirs) == cures(ours)


@pytest.mark.parametrize("form", ["file", "tensorboard"])
def test_where_no_config_is_written_all_is_as_in_the_run_directory_without_it(form):
    ours, theirs = replace(open_run(RUN / "klinic"), config=Config()), open_run(RUN / form)
    assert not theirs.config
    assert onsets(theirs) == onsets(ours)
    assert {key for key, _ in cures(theirs)} == {key for key, _ in cures(ours)}


def test_without_the_config_the_same_is_found_at_most_a_step_later():
    known, bare = ({name: step for name, step, _ in onsets(open_run(RUN / form))} for form in ("klinic", "tensorboard"))
    assert bare.keys() == known.keys()
    late = {name: bare[name] - known[name] for name in known if bare[name] != known[name]}
    assert late == {"truncation-high": 1}  # the cap on responses is known from the config alone at first
