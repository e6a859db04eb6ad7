"""Which runs a path holds: a file, stdin, a run directory, a folder searched to a bounded depth and count."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from klinic.diagnostics.files.pipe import refuse_device
from klinic.diagnostics.readerror import ReadError
from klinic.diagnostics.readers import rundir
from klinic.diagnostics.readers.beside import NAMES, beside
from klinic.diagnostics.readers.part import Part
from klinic.diagnostics.readers.reading import Plan, as_path
from klinic.diagnostics.readers.sources import remote
from klinic.diagnostics.run.trackers import SUFFIX

MAX_DEPTH, MAX_FILES = 8, 20_000
SKIPPED = re.compile(r"^(\..*|__pycache__|node_modules|site-packages|global_step_\d+|huggingface)$")
KERNELS = (Path("/proc"), Path("/sys"))
EVENT_FILE, WANDB_FILE = "tfevents", ".wandb"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)$")


def plans(path: str | Path, walked: list[Path] | None = None) -> list[Plan]:
    """The runs that a path or an address holds, unread; ReadError where it does not exist.

    More than `MAX_FILES` plans say that a folder holds more files than are searched. walked: takes the folders that
    were looked through: as long as none of them changes, neither do the plans.
    """
    if remote.is_remote(path):
        return _fetched(str(path))
    place = as_path(path)
    if place is None:
        return [Plan("-", (Part(None, main=True),))]
    if not str(path) or not place.exists():
        raise ReadError(_nowhere(str(path), place))
    refuse_device(place)
    if place.is_dir():
        _refuse_kernels(place)
        return list(_in_folder(place, str(path), [] if walked is None else walked))
    if place.name == rundir.MANIFEST and rundir.is_run_directory(place.parent):
        return [_run_directory(place.parent)]
    if place.name.endswith(WANDB_FILE):
        return [_wandb(place, str(path))]
    return [_single(place, str(path))]


def _refuse_kernels(place: Path) -> None:
    """ReadError for a folder that the kernel makes up: of its tens of thousands of files some never end."""
    if any(place.resolve().is_relative_to(folder) for folder in KERNELS):
        raise ReadError(
            f"{place}: files that the kernel makes up, no logs; give a log file, a run directory, or - for stdin"
        )


def _fetched(address: str) -> list[Plan]:
    """The runs of an address, each with an address of its own."""
    here, said = remote.local(address), remote.shown(address)
    return [replace(plan, path=said + plan.path.removeprefix(str(here))) for plan in plans(here)]


def _nowhere(shown: str, place: Path) -> str:
    """Why a path leads to nothing, in a line."""
    if shown and place.is_symlink():
        try:
            place.stat()
        except OSError as error:
            ends = (
                "leads back to itself" if error.errno == errno.ELOOP else f"leads to {place.readlink()}, which is gone"
            )
            return f"{shown}: a symbolic link that {ends}; give the log file itself"
    return f"{shown or 'an empty path'}: no such file or directory; give a log file, a run directory, or - for stdin"


def _single(place: Path, shown: str) -> Plan:
    return Plan(shown, (*beside(place.parent), Part(place, main=True)))


def _run_directory(folder: Path) -> Plan:
    return Plan(str(folder), rundir.parts(folder), rundir.READER.name)


def _wandb(place: Path, shown: str) -> Plan:
    """A W&B datastore, with the console text that stands beside it."""
    text = next(
        (log for log in (place.parent / "files/output.log", place.parent / "output.log") if log.is_file()), None
    )
    extra = (Part(text, rank=1, rows=False),) if text else ()
    return Plan(shown, (*beside(place.parent), Part(place, main=True, text=not extra), *extra))


def _event_files(files: list[Path], shown: str) -> Plan:
    first, *others = sorted(files, key=lambda file: file.name)
    parts = (Part(first, main=True), *(Part(file, rank=1, in_turn=True) for file in others))
    return Plan(shown, (*beside(first.parent), *parts))


def _in_folder(root: Path, shown: str, walked: list[Path]) -> Iterator[Plan]:
    walked.append(root)
    if rundir.is_run_directory(root):
        yield replace(_run_directory(root), path=shown)
        return
    count = 0
    closed: list[OSError] = []
    for folder, files in _folders(root, closed):
        walked.append(folder)
        if rundir.is_run_directory(folder):
            yield _run_directory(folder)
            continue
        for plan in _of_files(folder, files):
            yield plan
            count += 1
            if count > MAX_FILES:
                return
    for error in closed:  # reading it says why it cannot be opened
        yield _single(Path(error.filename), str(error.filename))


def _folders(root: Path, closed: list[OSError]) -> Iterator[tuple[Path, list[Path]]]:
    """Folders below `root` with their files, in order; not into run directories, nor out by symbolic links.

    closed: takes the folders that may not be opened.
    """
    real = root.resolve()
    for at, below, names in os.walk(root, onerror=closed.append):
        folder = Path(at)
        deep = len(folder.relative_to(root).parts) >= MAX_DEPTH
        if deep or (rundir.is_run_directory(folder) and folder != root):
            below.clear()
        below[:] = sorted(
            _latest_checkpoint(name for name in below if not SKIPPED.match(name) and folder / name not in KERNELS)
        )
        files = [folder / name for name in sorted(names) if not name.startswith(".") and not name.endswith(SUFFIX)]
        yield folder, [file for file in files if _is_inside(file, real)]


def _is_inside(file: Path, real: Path) -> bool:
    """Whether a plain file stands below the folder `real`, also when links are followed."""
    try:
        return file.is_file() and file.resolve().is_relative_to(real)
    except OSError:
        return False


def _latest_checkpoint(names: Iterator[str]) -> list[str]:
    """Folder names with only the last of `checkpoint-N`: each repeats the log of those before."""
    found = list(names)
    steps = {name: int(match[1]) for name in found if (match := _CHECKPOINT.match(name))}
    last = max(steps, key=lambda name: steps[name], default=None)
    return [name for name in found if name not in steps or name == last]


def _of_files(folder: Path, files: list[Path]) -> Iterator[Plan]:
    stores = [file for file in files if file.name.endswith(WANDB_FILE)]
    events = [file for file in files if EVENT_FILE in file.name]
    for store in stores:
        yield _wandb(store, str(store))
    if events:
        yield _event_files(events, str(folder))
    done = {*stores, *events}
    beside_store = folder.name == "files" and any(file.name.endswith(WANDB_FILE) for file in folder.parent.iterdir())
    for file in files:
        if file not in done and file.name not in NAMES and not beside_store:
            yield _single(file, str(file))
