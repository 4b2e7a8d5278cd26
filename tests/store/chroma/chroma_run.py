"""A real Chroma server on loopback, started and killed as tests need it."""

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from chromadb.errors import ChromaError, NotFoundError

from store.chroma.server import ChromaServer
from store.errors import ChromaBehind
from store.library import Library
from store.memory.memory import Memory
from tests.ports import free_port
from tests.waiting import eventually

RUN = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"  # as the program `chroma`


class ChromaRun:
    """`chroma run` on one port; what it stores is in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run it until it answers."""
        place = ["--path", self.folder, "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUN, "run", *place],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "CHROMA_ANONYMIZED_TELEMETRY": "False"},
        )
        assert eventually(self._answers), "chroma run does not answer"

    def kill(self) -> None:
        """End it by SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


def entries(server: ChromaRun, *, database: str = "default_database") -> dict[str, set[str]]:
    """The ids of each collection, as another client sees them; none of one that is being made or replaced."""
    client: Any = ChromaServer(server.url, database=database).connect()
    found: dict[str, set[str]] = {}
    for one in client.list_collections():
        try:
            found[one.name] = set(one.get(include=[])["ids"])
        except ChromaError as error:
            is_being_made = "Missing metadata segment" in str(error)
            if not is_being_made and not isinstance(error, NotFoundError):
                raise
    client.close()
    return found


def follows(library: Library) -> bool:
    """Whether Chroma has everything, after any number of failures."""
    return eventually(lambda: library.wait_for_chroma(5), every=0.1)


_K = TypeVar("_K", Library, Memory)


@contextmanager
def closed_behind(kept: _K, *, says: str = "") -> Iterator[_K]:
    """A library or memory whose end tells that Chroma is behind, and why."""
    yield kept
    with pytest.warns(ChromaBehind, match=says):
        kept.close()
