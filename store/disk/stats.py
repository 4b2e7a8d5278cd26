"""Size and modification time of a record's files, as text to compare."""

from collections.abc import Collection
from pathlib import Path

from store.disk.layout import Layout
from store.operations import State


def file_stats(
    layout: Layout, state: State, address: str, *, unknown: Collection[Path] = ()
) -> tuple[str, str]:
    """Size and modification time of the record's sidecar and of its picture; "" if the path is `unknown`."""
    sidecar, image = (
        "" if path in unknown else stat_text(path)
        for path in (layout.sidecar(state.tier, address), layout.image(state.tier, address))
    )
    return sidecar, image


def stat_text(path: Path) -> str:
    """The file's size in bytes and modification time in nanoseconds, as `size:time`.

    "" if there is no file.
    """
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"
