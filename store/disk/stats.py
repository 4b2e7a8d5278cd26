"""Size and modification time of a record's files, as text to compare."""

from pathlib import Path

from store.disk.layout import Layout
from store.operations import State


def file_stats(layout: Layout, state: State, address: str) -> tuple[str, str]:
    """Size and modification time of the record's sidecar and of its picture."""
    return stat_text(layout.sidecar(state.tier, address)), stat_text(layout.image(state.tier, address))


def stat_text(path: Path) -> str:
    """The file's size in bytes and modification time in nanoseconds, as `size:time`.

    "" if there is no file.
    """
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"
