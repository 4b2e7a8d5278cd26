"""`doctor` over a library of `bench.million`, part by part, as a Markdown table.

    python -m bench.checking /some/folder/captions-1000000
    python -m bench.checking /some/folder/captions-1000000 --stop 60    # told to stop after so many seconds

Pictures of that library are shared, under hashes that are made up: their files are read, and what comes out
counts as right.
"""

import argparse
import os
import resource
import threading
import time
from pathlib import Path

os.environ |= {"MEMEDEX_EMBEDDER": "offline", "MEMEDEX_CHROMA": "off"}

from bench.search import machine
from store.maintenance import doctor, record_checks
from store.maintenance.record_checks import SilentChange
from store.progress import Progress

_LOOK = 0.05  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", type=Path)
    parser.add_argument("--stop", type=float)
    options = parser.parse_args()
    _believe_pictures()
    progress, found = Progress(), list[doctor.DoctorFinding]()
    thread = threading.Thread(
        target=lambda: found.extend(doctor.check_unopened(options.root, progress=progress))
    )
    print(f"{machine()}; load {os.getloadavg()[0]:.0f}\n")
    print(
        "| what | elapsed, s | processor, s | of the progress, % |\n| --- | ---: | ---: | ---: |", flush=True
    )
    began = at = (time.perf_counter(), time.process_time())
    thread.start()
    what, stopped = progress.what, 0.0
    while thread.is_alive():
        thread.join(_LOOK)
        if options.stop and not stopped and time.perf_counter() - began[0] > options.stop:
            progress.cancel()
            stopped = time.perf_counter()
        if progress.what != what or not thread.is_alive():
            now = (time.perf_counter(), time.process_time())
            share = f"{100 * progress.done / progress.total:.0f}" if progress.total else ""
            print(
                f"| {what or 'opening'} | {now[0] - at[0]:,.1f} | {now[1] - at[1]:,.1f} | {share} |",
                flush=True,
            )
            at, what = now, progress.what
    print(f"| all | {at[0] - began[0]:,.1f} | {at[1] - began[1]:,.1f} | |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nmost memory: {peak:,.0f} MiB; findings: {len(found):,}")
    for one in found[:3]:
        print(f"- {one.address} {one.what}: {one.remedy}")
    if stopped:
        print(f"ended {time.perf_counter() - stopped:.1f} s after it was told to stop")


def _believe_pictures() -> None:
    look = record_checks._silent

    def silent(file: record_checks._File) -> SilentChange | None:
        found = look(file)
        return None if file.what == "picture" else found

    record_checks._silent = silent


if __name__ == "__main__":
    main()
