"""A million coins on one machine, as a Markdown table with its aims.

    python -m bench.million --keep /some/folder                  # half an hour to make, 45 GB
    python -m bench.million --keep /some/folder --size 100000    # some minutes, 5 GB

The library is that of `million_library`, and is kept. What is timed runs in a process of its own for each
stage (`million_stages`).
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.measuring import machine, print_head, print_row, spread
from bench.million_library import made
from store.disk.layout import Layout

_AIMS = {
    "opened, until the first page's coins are there": "≤ 3,000 ms",
    "first query, exact": "≤ 120 ms",
    "one weight changed, in the store": "≤ 60 ms, 95 %: 120, with the browser's part",
    "memory apart from mapped files, after all of this": "≤ 2,048 MiB",
    "page of coins, any order, any filter": "≤ 50 ms",
    "decision, durable": "≤ 120 ms",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, required=True, help="the folder in which libraries are kept")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--data", choices=["captions", "random"], default="captions")
    parser.add_argument("--stages", nargs="+", default=["opening", "searching", "deciding", "paging"])
    options = parser.parse_args()
    library = options.keep / f"{options.data}-{options.size}"
    made(library, options.size, kind=options.data)
    print(f"{machine()}; {options.size:,} coins, vectors like {options.data}\n")
    print_head("what", "median", "aim", "load")
    for stage in options.stages:
        command = [sys.executable, "-m", "bench.million_stages", stage, str(library), options.data]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for name, (unit, values) in json.loads(done.stdout.splitlines()[-1]).items():
            print_row(name, spread(values, unit), _AIMS.get(name, ""), f"{os.getloadavg()[0]:.0f}")
    print()
    _show_cost(library, options.size)


def _show_cost(root: Path, size: int) -> None:
    """The bytes of each of `size` coins on the disk, as the file system counts them, without pictures."""
    layout = Layout(root.resolve())
    parts = {
        "catalog (texts, history, words, vectors)": layout.memecoins.glob(f"{layout.catalog.name}*"),
        "mapped vectors for search": layout.matrices.rglob("*.npy"),
        "sidecars": layout.sidecar_folder("library").iterdir(),
    }
    print_head("a coin's part on the disk", "KB", "GB in all")
    for name, paths in parts.items():
        used = _on_disk(paths)
        print_row(name, f"{used / size / 1e3:.1f}", f"{used / 1e9:.2f}")


def _on_disk(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_blocks * 512 for path in paths)


if __name__ == "__main__":
    main()
