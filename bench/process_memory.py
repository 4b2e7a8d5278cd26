"""The most memory that a process and its children have at one moment, as Linux counts it.

`ru_maxrss` says something else: it counts a file that two connections map twice, and a child begins with
the largest size of the process that started it. The proportional set size (`Pss` in proc(5)) counts each
page once.
"""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_EVERY = 0.25  # seconds between two looks


class Memory(NamedTuple):
    """Bytes: all of it, and without the pages of files, which the system may drop at any time."""

    whole: int
    own: int


def run(command: Sequence[str], *, folder: Path | None = None) -> tuple[str, Memory]:
    """Run a command; returns its output and the most memory of it and its children together."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        over, most = threading.Event(), Memory(0, 0)

        def watch() -> None:
            nonlocal most
            while not over.wait(_EVERY):
                found = [_of(number) for number in _family(process.pid)]
                whole, own = (sum(sizes) for sizes in zip(*found, strict=True)) if found else (0, 0)
                most = Memory(max(most.whole, whole), max(most.own, own))

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, _ = process.communicate()
        over.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output, most


def _family(number: int) -> Iterator[int]:
    yield number
    for task in Path(f"/proc/{number}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from _family(int(child))


def _of(number: int) -> Memory:
    try:
        lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended
        return Memory(0, 0)
    sizes = {
        name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines[1:])
    }
    return Memory(sizes["Pss"], sizes["Pss_Anon"])
