"""What all benchmarks share: the clock, memory, the machine's name, and Markdown tables."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np


def milliseconds(work: Callable[[], object]) -> float:
    """How long this takes, by the clock."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000


def processor_seconds(process: int) -> float:
    """Seconds of processor time that a process has used so far, its ended children apart."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(kind: str = "RssAnon", process: int | str = "self") -> float:
    """MiB of a process; `RssAnon` is what the system cannot take back, `RssFile` what it can."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith(f"{kind}:"))


def forget(file: Path) -> None:
    """Have the system read a file from the disk the next time."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def machine() -> str:
    """The machine and the properties that affect its speed, its load included."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    return (
        f"{cpu or platform.machine()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, load {os.getloadavg()[0]:.0f}"
    )


def spread(values: Sequence[float], unit: str = "") -> str:
    """The median, and the 95th percentile where there are several values: "9.6 ms (95 %: 11.2)"."""
    if not values:
        return "–"
    median, slow = (_rounded(float(np.quantile(values, share))) for share in (0.5, 0.95))
    return f"{median} {unit}".rstrip() + (f" (95 %: {slow})" if len(values) > 1 else "")


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def print_head(*cells: str) -> None:
    """The head of a Markdown table: the first column is text, the others are figures."""
    print_row(*cells)
    print_row("---", *["---:"] * (len(cells) - 1))


def print_row(*cells: object) -> None:
    """A row of a Markdown table, at once: some tables take an hour."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A whole Markdown table."""
    print_head(*head)
    for row in rows:
        print_row(*row)
