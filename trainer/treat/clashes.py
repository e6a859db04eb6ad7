"""Where the new launch command would write over the old run, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from klinic.diagnostics.verlconfig.overrides import override
from klinic.trainer.treat.origin import Origin

NAMES = ("trainer.experiment_name", "trainer.project_name", "trainer.default_local_dir")
RESUME, LOGGER = "trainer.resume_mode", "trainer.logger"
FILE_LOGGER = "VERL_FILE_LOGGER_PATH"


def clashes(found: Origin, overrides: Sequence[str]) -> Iterator[str]:
    """What the command of a launch script, with these overrides put in, does to what the old run wrote.

    verl resumes by itself from a checkpoint under the same names, and its file logger opens its file anew.
    """
    if not found.text:
        return
    values = {one.key: one.value for text in (*found.words, *overrides) if (one := override(text))}
    renamed = {one.key for text in overrides if (one := override(text))}.intersection(NAMES)
    if not renamed and values.get(RESUME, "auto") == "disable":
        yield "the command writes where the old run wrote: name another trainer.experiment_name"
    elif not renamed:
        yield (
            "the command writes where the old run wrote and would resume from its checkpoints: "
            "name another trainer.experiment_name"
        )
    if f"{FILE_LOGGER}=" in found.text and "file" in str(values.get(LOGGER)):
        yield f"verl's file logger empties the file that {FILE_LOGGER} names, the old run's metrics: name another"
