"""Asking Chroma, which runs in a process of its own (`worker.py` says why)."""

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_PATIENCE = 60.0  # seconds to write out its indexes when it is asked to end


class ChromaFailed(Exception):
    """What Chroma said, or that its process is gone."""


class ChromaProcess:
    """The verbs of what `make` makes there, called as if it were here; the process starts at the first."""

    def __init__(self, make: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
        self._make = (make, arguments, keywords)
        self._process: subprocess.Popen[bytes] | None = None

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb.startswith("_"):
            raise AttributeError(verb)
        return partial(self._ask, verb)

    def close(self) -> None:
        """End the process; what it knew is gone with it."""
        if self._process is None:
            return
        process, self._process = self._process, None
        with process:
            with contextlib.suppress(OSError):
                if process.stdin:
                    pickle.dump(None, process.stdin)
                    process.stdin.close()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

    def _ask(self, verb: str, *arguments: Any, **keywords: Any) -> Any:
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((verb, arguments, keywords), process.stdin)
            process.stdin.flush()
            done, answer = pickle.load(process.stdout)  # from our own child, nobody else
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self.close()
            raise ChromaFailed(f"Chroma's process ended with status {process.returncode}") from error
        if not done:
            raise ChromaFailed(answer)
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "store.chroma.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parent.parent.parent,
            start_new_session=True,  # Ctrl-C is for whoever watches the program; this one ends with its pipe
        )
        assert process.stdin is not None
        pickle.dump(self._make, process.stdin)
        return process
