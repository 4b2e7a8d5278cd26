"""A million coins on one machine, as a Markdown table with what is aimed at.

    python -m bench.million --keep /some/folder                  # half an hour to make, 45 GB
    python -m bench.million --keep /some/folder --size 100000    # some minutes

The library is that of `million_library`, and is kept. What is timed runs in a process of its own for each
stage (`million_stages`).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench import million_cost
from bench.million_library import made
from bench.search import machine

_AIMS = {
    "opened, until the first page's coins are there": "≤ 3,000 ms",
    "first query, exact": "≤ 120 ms",
    "one weight changed, in the store": "≤ 60 ms, 95 %: 120, with the browser's part",
    "memory beside mapped files, after all of this": "≤ 2,048 MiB",
    "page of the pending grid, any order, any filter": "≤ 50 ms",
    "decision, durable": "≤ 120 ms",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, required=True, help="the folder in which libraries are kept")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--data", choices=["captions", "random"], default="captions")
    parser.add_argument("--stages", nargs="+", default=["opening", "searching", "deciding", "paging", "cost"])
    options = parser.parse_args()
    library = options.keep / f"{options.data}-{options.size}"
    made(library, options.size, kind=options.data)
    print(f"{machine()}; {options.size:,} coins, vectors like {options.data}\n")
    print("| what | median | 95 % | most | aim | load |\n| --- | ---: | ---: | ---: | --- | ---: |")
    for stage in options.stages:
        if stage != "cost":
            _show(stage, library, options.data)
    if "cost" in options.stages:
        million_cost.show(library, options.size)


def _show(stage: str, root: Path, kind: str) -> None:
    command = [sys.executable, "-m", "bench.million_stages", stage, str(root), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for name, (unit, values) in json.loads(done.stdout.splitlines()[-1]).items():
        figures = [np.median(values), np.quantile(values, 0.95), max(values)] if len(values) > 1 else values
        texts = [f"{figure:,.0f} {unit}" if figure >= 100 else f"{figure:.3g} {unit}" for figure in figures]
        texts += [""] * (3 - len(texts))
        print(
            f"| {name} | {' | '.join(texts)} | {_AIMS.get(name, '')} | {os.getloadavg()[0]:.0f} |", flush=True
        )


if __name__ == "__main__":
    main()
