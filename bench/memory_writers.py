"""Three agents store memories at once beside a memory that is open as the dashboard has it.

    python -m bench.memory_writers --seconds 10 --rate 20

Each agent is `python -m store mcp` with the real model, asked by the official client. The memory that is open
here searches all the while. Prints how many were stored a second, how long a store took, and whether any was
refused or lost.
"""

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from store.memory.memory import Memory

AGENTS = 3


async def _agent(
    root: Path, name: str, *, count: int, pause: float, took: list[float], ends: list[float], ids: list[str]
) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "store", "--root", str(root), "--actor", name, "mcp"]
    )
    async with Client(parameters) as client:
        await client.call_tool("store_memory", {"content": f"{name} begins"})  # loads the model
        due = time.monotonic()
        for number in range(count):
            began = time.perf_counter()
            result = await client.call_tool("store_memory", {"content": f"{name} saw number {number}"})
            ends.append(time.perf_counter())
            took.append(ends[-1] - began)
            if result.is_error or result.structured_content is None:
                print(f"refused: {result.content}")
            else:
                ids.append(result.structured_content["memory_id"])
            due += pause
            await anyio.sleep(max(0.0, due - time.monotonic()))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--rate", type=float, default=20, help="stores a second of all agents together")
    given = options.parse_args()
    count, ids = int(given.seconds * given.rate / AGENTS), list[str]()
    took, ends = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "res"
        with Memory.open(root) as memory:
            memory.memories.store_memory("The dashboard is open.")
            is_over, searched = threading.Event(), list[float]()

            def look() -> None:
                while not is_over.wait(0.2):
                    began = time.perf_counter()
                    memory.memories.search_memory("Which number was seen?")
                    searched.append(time.perf_counter() - began)

            looker = threading.Thread(target=look)
            looker.start()

            async def one(name: str) -> None:
                pause = AGENTS / given.rate
                await _agent(root, name, count=count, pause=pause, took=took, ends=ends, ids=ids)

            async def all_agents() -> None:
                async with anyio.create_task_group() as group:
                    for number in range(AGENTS):
                        group.start_soon(one, f"agent{number}")

            anyio.run(all_agents)
            is_over.set()
            looker.join()
            stored = {row["id"] for row in memory.memories.passages.find(limit=None)}
            seconds = max(ends) - min(ends)
            took.sort()
            searched.sort()
            middle, rare = took[len(took) // 2] * 1000, took[int(len(took) * 0.99)] * 1000
            print(
                f"{len(ids):,} of {AGENTS * count:,} stored, {len(set(ids) - stored)} lost, "
                f"{len(ids) / seconds:.1f} a second; a store took {middle:.0f} ms (median), "
                f"{rare:.0f} ms (99 %), {took[-1] * 1000:.0f} ms at most; "
                f"{len(searched):,} searches beside them, {searched[len(searched) // 2] * 1000:.0f} ms each"
            )


if __name__ == "__main__":
    main()
