"""Where klinic shows what it found among a run's own metrics, and by which names: readers leave those out."""

from __future__ import annotations

from collections.abc import Iterable

from klinic.diagnostics.run.events import Block

TRACKERS = ("tensorboard", "wandb", "trackio")  # loggers of verl
OURS = "klinic/"  # before the name of everything written back
FOLDER, SUFFIX = "klinic", ".klinic"  # of event files: a folder in TensorBoard's, the end of each file's name


def only_ours(names: Iterable[str]) -> bool:
    """Whether there are names, and klinic wrote back what stands under each of them."""
    name = ""
    for name in names:
        if not name.startswith(OURS):
            return False
    return bool(name)


def without_ours(block: Block) -> Block | None:
    """A block without what klinic wrote back; None where that was all."""
    import numpy as np

    places = [place for place, name in enumerate(block.names) if not name.startswith(OURS)]
    if len(places) == len(block.names):
        return block
    held = np.any([block.holds(place) for place in places], axis=0) if places else np.zeros(len(block.steps), bool)
    if not held.any():
        return None
    rows, columns = np.cumsum(held) - 1, {place: at for at, place in enumerate(places)}
    return Block(
        [block.names[place] for place in places],
        block.steps[held],
        block.values[held][:, places],
        None if block.times is None else block.times[held],
        {(int(rows[at]), columns[place]): code for (at, place), code in block.codes.items() if place in columns},
        block.line,
    )
