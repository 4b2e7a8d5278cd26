"""The dashboard that `bench.clicks` clicks on: a prepared library, its server, and what is stored."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.library import coins
from bench.pending import queue
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.memory.memory import Memory
from store.reading.reader import Reader
from store.records import Facet, Tier
from store.runtime import open_library, open_reader

PROJECT = Path(__file__).resolve().parent.parent
APPROVED, PROMOTED = 300, 120  # coins
MEMORIES = 200
SUGGESTED: Facet = "emotions"
_MODEL = "offline"
_START = 120.0  # seconds
# It ends by itself if its parent is killed.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def prepared(root: Path, pending: int) -> Path:
    """A library with so many pending coins, approved and promoted ones, suggestions and memories.

    A folder that has all of it already stays as it is.
    """
    mark = root / f"prepared-{pending}"
    if mark.exists():
        return root
    os.environ["MEMEDEX_EMBEDDER"] = _MODEL
    queue(root, pending)
    with open_library(root, embedder=open_embedder(_MODEL)) as library:
        made = list(coins(APPROVED + PROMOTED))
        library.add(made)
        addresses = [str(coin.sidecar["token_address"]) for coin in made]
        library.approve(addresses)
        library.promote(addresses[:PROMOTED])
        for address in addresses[PROMOTED:]:
            text = f"Hopeful, as {address[-6:]} makes one feel"
            library.suggestions.save(address, {SUGGESTED: text}, model="bench", prompt="caption v1")
    with Memory.open(root) as memory:
        for number in range(MEMORIES):
            memory.memories.store_memory(f"The curator noted the number {number} about frogs.", ["note"])
    mark.touch()
    return root


class Stored:
    """What the library and its text memory hold now, read while the dashboard runs."""

    def __init__(self, root: Path) -> None:
        self.library: Reader = open_reader(root)
        assert not self.library.can_write, "the dashboard does not have its library open"
        self.memory = Memory.open_for_reading(root)

    def close(self) -> None:
        self.library.close()
        self.memory.close()

    def verbs(self, address: str) -> list[str]:
        """What was done to a coin, oldest first."""
        return [event.verb for event in reversed(self.library.history(address=address))]

    def tier(self, address: str) -> Tier:
        return self.library.get(address).tier

    def count(self, tier: Tier) -> int:
        return self.library.count(Filter(tier=tier))

    def memories_with(self, words: str) -> int:
        return self.memory.passages["memories"].count(words=words)

    def text_of_memory(self, id: str) -> str:
        return str(self.memory.passages["memories"].get(id)["content"])

    def edits_of_memory(self, id: str) -> int:
        history = self.memory.passages["memories"].history(id=id)
        return sum(event.verb == "edit" for event in history)


@dataclass
class Server:
    """A running dashboard."""

    url: str
    root: Path
    process: subprocess.Popen[bytes]
    log: Path

    def seconds_used(self) -> float:
        """Of the processor, by the dashboard's own process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def errors(self) -> list[str]:
        """The last line of each traceback that the dashboard printed, and where it was raised."""
        found, inside, place = [], False, ""
        for line in self.log.read_text(errors="replace").splitlines():
            if "Traceback (most recent call last)" in line:
                inside = True
            elif inside and line.lstrip().startswith('File "'):
                place = line.strip()
            elif inside and line.strip() and not line.startswith((" ", "\t", "│", "╭", "╰")):
                found.append(f"{line.strip()} ({place})")
                inside = False
        return found

    @cached_property
    def stored(self) -> Stored:
        return Stored(self.root)


@contextmanager
def serve(root: Path, *, more: Sequence[str] = ()) -> Iterator[Server]:
    """The dashboard over this library, on a free port, with `more` of Streamlit's options."""
    port = _free_port()
    log = root.with_name(f"{root.name}.log")
    settings = {
        "MEMEDEX_ROOT": str(root), "MEMEDEX_EMBEDDER": _MODEL, "MEMEDEX_CAPTION_MODEL": "",
        "MEMEDEX_READ_PICTURES": "false",  # thousands would be read meanwhile, for hours
    }  # fmt: skip
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    with log.open("wb") as printed:
        process = subprocess.Popen(
            [*command, f"--server.port={port}", *more],
            cwd=PROJECT,
            env={**os.environ, **settings},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        server = Server(f"http://127.0.0.1:{port}", root, process, log)
        try:
            _wait(server)
            yield server
        finally:
            if "stored" in server.__dict__:
                server.stored.close()
            process.terminate()
            process.wait(60)


def _wait(server: Server) -> None:
    end = time.monotonic() + _START
    while time.monotonic() < end and server.process.poll() is None:
        try:
            urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"the dashboard did not start:\n{server.log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


@contextmanager
def busy_processors(wanted: bool) -> Iterator[None]:
    """Two processes that compute all the time, if `wanted`; they end with the block."""
    eaters = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(2 if wanted else 0)]
    try:
        yield
    finally:
        for process in eaters:
            process.kill()
            process.wait()


def copied(template: Path, root: Path) -> Path:
    """A copy to click on: the prepared library stays as it is."""
    return shutil.copytree(template, root)
