"""The exam of benchmarks/exam.py asks what can be answered, and asks the same each time."""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from klinic.diagnostics.engine.diagnose import installed_cards

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def exams() -> Iterator[SimpleNamespace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        from exams import catalogue, files, plan, scoring

        yield SimpleNamespace(catalogue=catalogue, files=files, plan=plan, scoring=scoring)
    for name in [name for name in sys.modules if name.split(".")[0] == "exams"]:
        del sys.modules[name]


def test_every_fault_has_an_answer_among_the_cards(exams):
    cards = {card.name for card in installed_cards()}
    assert {fault.name for fault in exams.catalogue.FAULTS} == set(exams.scoring.key())
    for fault, right in exams.scoring.key().items():
        assert set(right["found"]) <= cards, fault


def test_a_paper_asks_the_same_each_time_and_another_paper_asks_otherwise(exams):
    def first(number: int) -> np.ndarray:
        return next(exams.plan.items(exams.plan.PAPERS[number], 1, 0, 0)).table["critic/score/mean"]

    assert np.array_equal(first(1), first(1), equal_nan=True)
    assert not np.array_equal(first(1), first(2), equal_nan=True)


def test_the_papers_share_no_carrier_but_the_public_log(exams):
    carriers = [set(paper.ppo + paper.grouped) for paper in exams.plan.PAPERS.values()]
    for one, two in itertools.combinations(carriers, 2):
        assert one & two <= {"ppo-public"}


def test_a_fault_is_scored_by_name_root_onset_and_advice(exams):
    def said(*findings: tuple[str, int, int, bool]) -> object:
        about = {"faults": ("truncation",), "onsets": ((20, 30),)}
        parts = tuple(SimpleNamespace(name=n, level=v, first=f, root=r) for n, v, f, r in findings)
        advice = (("truncation-high", "data.max_response_length", 512, 256),)
        mark = SimpleNamespace(name="x", about=about, said=parts, alarms=[], advice=advice, peer=None)
        return next(exams.scoring.answers([mark]))

    right = said(("truncation-high", 2, 33, True))
    assert (right.found, right.root, right.off, right.advised, right.sane) == (True, True, 3, True, False)
    folded = said(("truncation-high", 2, 25, False), ("val-drop", 2, 21, True))
    assert (folded.found, folded.root, folded.off) == (True, False, 0)
    faint = said(("truncation-high", 1, 25, True))
    assert (faint.found, faint.level, faint.off) == (False, 1, None)


def test_numbers_that_are_none_are_written_as_each_log_writes_them(exams, tmp_path):
    item = next(exams.plan.items(exams.plan.PAPERS[1], 1, 0, 0))
    item.table["actor/grad_norm"][3] = np.inf
    lines = exams.files.write(item.table, tmp_path / "a", "verl", True).read_text().splitlines()
    assert '"actor/grad_norm": null' in lines[3] and (tmp_path / "a/overrides.txt").exists()
    lines = exams.files.write(item.table, tmp_path / "b", "verl-console", False).read_text().splitlines()
    assert "actor/grad_norm:nan" in lines[3] and not (tmp_path / "b/overrides.txt").exists()
