"""How a verdict is written by each of verl's loggers that can show one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from klinic.diagnostics.run.trackers import FOLDER, OURS, SUFFIX

STORY, STEP = f"{OURS}story", f"{OURS}step"


@dataclass(frozen=True)
class Shown:
    """A verdict for trackers. step: the last one judged. story: empty unless findings or verdict changed."""

    step: int
    values: Mapping[str, float]
    story: str


class Tracker(Protocol):
    """Shows verdicts by one of verl's loggers, which has logged training step `step` before."""

    def show(self, shown: Shown, step: int) -> None:
        """Write it."""

    def close(self) -> None:
        """Let go of what this one opened itself."""


class TensorBoard:
    """Event files of klinic's own, in a folder below verl's: a run `klinic` beside it, each point at the step judged.

    verl's file stays as verl writes it. In the same folder TensorBoard would read only the newer of two files that
    are written at once, unless it is started with --reload_multifile.
    """

    def __init__(self, logger: Any) -> None:
        from torch.utils.tensorboard import SummaryWriter

        folder = Path(logger.writer.log_dir) / FOLDER
        self._writer = SummaryWriter(str(folder), filename_suffix=SUFFIX)

    def show(self, shown: Shown, step: int) -> None:
        """Scalars, and the story as text where it changed."""
        for name, value in shown.values.items():
            self._writer.add_scalar(name, value, shown.step)
        if shown.story:
            self._writer.add_text(STORY, shown.story, shown.step)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


class Wandb:
    """The run itself: values join the row of the step that verl has just logged, so that W&B's steps only rise.

    Charts have `klinic/step`, the last step judged, as their x axis.
    """

    def __init__(self, logger: Any) -> None:
        self._wandb = logger
        logger.define_metric(STEP, hidden=True)
        logger.define_metric(f"{OURS}*", step_metric=STEP)

    def show(self, shown: Shown, step: int) -> None:
        """Scalars, and the story where it changed; the summary has the last of each."""
        story = {STORY: shown.story} if shown.story else {}
        self._wandb.log({**shown.values, STEP: shown.step, **story}, step=step)

    def close(self) -> None:
        """The run is verl's to finish."""


class Trackio:
    """Rows of klinic's own in verl's run, each at the step judged: Trackio's steps may come in any order.

    Source: https://huggingface.co/docs/trackio/api (log, Markdown); tried with trackio 0.43.0.
    """

    def __init__(self, logger: Any) -> None:
        self._trackio = logger.trackio

    def show(self, shown: Shown, step: int) -> None:
        """Scalars, and the story as Markdown where it changed."""
        story = {STORY: self._trackio.Markdown(shown.story)} if shown.story else {}
        self._trackio.log({**shown.values, **story}, step=shown.step)

    def close(self) -> None:
        """The run is verl's to finish."""


SHOWS: dict[str, Callable[[Any], Tracker]] = {"tensorboard": TensorBoard, "wandb": Wandb, "trackio": Trackio}
