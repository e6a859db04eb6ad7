"""What the tests of the exams share."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exam_modules() -> Iterator[Callable[..., SimpleNamespace]]:
    """`exam_modules(paper, *names)`: a paper's modules, `files` and `scoring`; forgotten after a file's tests."""

    def imported(paper: str, *names: str) -> SimpleNamespace:
        own = {name: importlib.import_module(f"exams.{paper}.{name}") for name in names}
        shared = {name: importlib.import_module(f"exams.{name}") for name in ("files", "scoring")}
        return SimpleNamespace(**own, **shared)

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield imported
    for name in [name for name in sys.modules if name.split(".")[0] == "exams"]:
        del sys.modules[name]
