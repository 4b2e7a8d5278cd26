"""Asking Chroma, which runs in a process of its own (`chroma_worker.py` says why)."""

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from store.memory.chroma import Point

_PATIENCE = 60.0  # seconds to write out its indexes when it is asked to end


class ChromaFailed(Exception):
    """What Chroma said, or that its process is gone."""


class ChromaProcess:
    """The verbs of `Chroma` that write; the process starts at the first of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str], model: str) -> None:
        self._ask("put", name, list(points), gone=list(gone), model=model)

    def begin(self, name: str, *, model: str) -> None:
        self._ask("begin", name, model=model)

    def close(self) -> None:
        """End the process; what it knew is gone with it."""
        if self._process is None:
            return
        process, self._process = self._process, None
        with process:
            with contextlib.suppress(OSError):
                if process.stdin:
                    process.stdin.close()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

    def _ask(self, verb: str, *arguments: object, **keywords: object) -> None:
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((verb, arguments, keywords), process.stdin)
            process.stdin.flush()
            done, fault = pickle.load(process.stdout)  # from our own child, nobody else
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self.close()
            raise ChromaFailed(f"Chroma's process ended with status {process.returncode}") from error
        if not done:
            raise ChromaFailed(fault)

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-W", "ignore", "-m", "store.memory.chroma_worker", str(self._folder)]
        program = Path(__file__).resolve().parent.parent.parent
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=program,
            start_new_session=True,  # Ctrl-C is for whoever watches the program; this one ends with its pipe
        )
