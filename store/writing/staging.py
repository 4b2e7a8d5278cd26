"""The folders in which operations stage their new files, `operations/<catalog>-<operation>`."""

import time
from pathlib import Path

from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk
from store.disk.layout import Layout


def remove_undecided(layout: Layout, disk: Disk, *, known: set[Path], own: str) -> None:
    """Remove what this catalog staged and never decided; what another one staged is moved aside.

    `known` are the folders of decided operations, `own` is how the names of this catalog's begin. Empty ones
    are removed.
    """
    folder = layout.operations
    found = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    for path in found:
        if path not in known and (path.name.startswith(own) or not any(path.iterdir())):
            disk.remove_folder(path)
    strange = [path.name for path in found if path not in known and path.exists()]
    if strange:
        what = f"{len(strange):,} folders of changes that this catalog does not know"
        into = layout.memecoins
        move_aside(strange, source=folder, into=into, what=what, disk=disk)
        carry_out_moves(into, disk=disk)


def set_aside(path: Path, layout: Layout, disk: Disk) -> None:
    """Move a file out of a path that the program needs, to `set-aside`, under the time and its name."""
    disk.make_folder(layout.set_aside)
    disk.rename(path, layout.set_aside / f"{time.time_ns()}-{path.name}")
    disk.fsync_folders([layout.set_aside])  # before something else takes its place
