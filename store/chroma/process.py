"""Call Chroma, which runs in a separate process, controlled through its pipes.

Measured on chromadb 1.5.9: index files are written with unused memory of the writing process in them, so that
a text deleted long ago turned up in `data_level0.bin`. This process never receives a text of the memory, and
it ends when something is deleted for good.
"""

import contextlib
import logging
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, BinaryIO, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from store.chroma.collections import Collections, Point

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_Request = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None

LIMIT = 300.0  # seconds for one answer; a damaged index has been seen to hang
_TIMEOUT = 20.0  # seconds to write out its indexes when it is asked to end
_LAST_WORDS = 5.0  # seconds for a process that closed its pipes to end
_KEPT = 200  # lines of what it said last; a line is cut after …
_LONGEST = 1_000  # … so many characters
_SHOWN = 3  # lines of these that go with the failure; the log has them all

_PROGRAM = Path(__file__).resolve().parent.parent.parent


class ChromaFailed(Exception):
    """Chroma reported an error."""


class ChromaEnded(ChromaFailed):
    """Its process ended, or did not answer and was killed; another one may succeed."""


class ChromaSilent(ChromaEnded):
    """Its process did not answer, and was killed."""


class ServerAway(ChromaFailed):
    """A Chroma server cannot be reached or refuses the request; what it holds may be whole."""


class ClosedByItself(Protocol):
    """The object that a child process creates and calls."""

    def close(self) -> None:
        """End it in its own time."""


M = TypeVar("M", bound=ClosedByItself)


class ChildProcess(Generic[M]):
    """One object in a child process, which starts at the first call.

    Every call raises ChromaFailed for errors there, ServerAway among them, ChromaEnded if the process ends
    or does not answer within LIMIT seconds; the next call starts another.
    """

    noun = "Chroma's process"

    def __init__(self, make: Callable[..., M], *arguments: Any, **keywords: Any) -> None:
        """The process makes its object as `make(*arguments, **keywords)`."""
        self._make = (make, arguments, keywords)
        self._process: subprocess.Popen[bytes] | None = None
        self._said: _ProcessOutput | None = None

    def kill(self) -> None:
        """Kill the process at once, from any thread; those who wait for its answer get ChromaFailed."""
        if process := self._process:
            process.kill()

    def close(self) -> None:
        """End the process. Raises ChromaEnded if it did not end by itself."""
        if self._process is None:
            return
        process = self._process
        with _ended_after(process, _TIMEOUT) as is_late, contextlib.suppress(OSError):
            assert process.stdin is not None
            pickle.dump(None, process.stdin)
            process.stdin.close()
            process.wait()
        status = self._reap()
        if is_late() or status:
            why = f"did not end within {_TIMEOUT:.0f} seconds" if is_late() else f"ended with status {status}"
            raise ChromaEnded(self._with_what_it_said(f"{self.noun} {why}"))

    def call(self, method: Callable[Concatenate[M, P], T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """What the method answers there."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with _ended_after(process, LIMIT) as is_late:
            try:
                pickle.dump((method, arguments, keywords), process.stdin)
                process.stdin.flush()
                outcome, answer = pickle.load(process.stdout)  # from our own child process only
            except Exception as error:
                if isinstance(error, EOFError | BrokenPipeError):  # it ends, and may still say why
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_LAST_WORDS)
                process.kill()  # what it answers from now on would be taken for another answer
                status = self._reap()
                late, why = is_late(), f"ended with status {status}"
                why = f"did not answer within {LIMIT:.0f} seconds" if late else why
                failed = ChromaSilent if late else ChromaEnded
                raise failed(self._with_what_it_said(f"{self.noun} {why}")) from error
        if outcome == "away":
            raise ServerAway(answer)
        if outcome == "failed":
            raise ChromaFailed(self._with_what_it_said(answer))
        if self._said:
            self._said.clear()  # it did not keep it from answering
        result: T = answer
        return result

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "store.chroma.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_PROGRAM,
            start_new_session=True,  # Ctrl-C is for the program; this process ends with its pipe
        )
        assert process.stdin is not None
        assert process.stderr is not None
        self._said = _ProcessOutput(process.stderr)
        with contextlib.suppress(OSError):  # dead already: the first question says so
            pickle.dump(self._make, process.stdin)
        return process

    def _reap(self) -> int:
        """The exit status of the process; closes its pipes."""
        process, self._process = self._process, None
        assert process is not None
        status = process.wait()
        if self._said:
            self._said.finish()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):  # what could not be written any more
                if pipe:
                    pipe.close()
        return status

    def _with_what_it_said(self, failure: str) -> str:
        lines = self._said.lines() if self._said else []
        if not lines:
            return failure
        log.error("%s\n%s", failure, "\n".join(lines))  # the command line shows the first line
        return f"{failure}; it said: {' · '.join(lines[-_SHOWN:])}"


class ChromaProcess(ChildProcess[Collections]):
    """`Collections` in a child process."""

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str]) -> None:
        """As `Collections.put`."""
        self.call(methodcaller("put", name, points, gone=gone))

    def begin(self, name: str, *, model: str) -> None:
        """As `Collections.begin`."""
        self.call(methodcaller("begin", name, model=model))

    def ids(self, name: str) -> set[str]:
        """As `Collections.ids`."""
        return self.call(methodcaller("ids", name))


def answer_requests() -> None:
    """In the child process: answer requests by ("done", result), ("failed" or "away", error), until None."""
    requests: SimpleQueue[_Request] = SimpleQueue()
    with os.fdopen(os.dup(0), "rb") as requests_file, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # a library that prints must not spoil an answer
        make, arguments, keywords = pickle.load(requests_file)
        threading.Thread(target=_queue_requests, args=(requests_file, requests), daemon=True).start()
        try:
            chroma = make(*arguments, **keywords)
        except BaseException:  # noqa: BLE001  no caller is left, and a reader keeps the pipe open
            traceback.print_exc()
            os._exit(1)
        while (request := requests.get()) is not None:
            method, arguments, keywords = request
            answer: tuple[str, Any]
            try:
                answer = ("done", method(chroma, *arguments, **keywords))
            except ServerAway as error:
                answer = ("away", str(error))
            except BaseException as error:  # noqa: BLE001  Chroma's Rust panics are no Exceptions
                answer = ("failed", f"{type(error).__name__}: {error}")
            pickle.dump(answer, answers)
            answers.flush()
        chroma.close()


def _queue_requests(requests_file: BinaryIO, requests: "SimpleQueue[_Request]") -> None:
    """Queue the requests; if the caller dies, end this process at once.

    The next program may open the same folder, and two processes on it lose vectors.
    """
    while True:
        try:
            request: _Request = pickle.load(requests_file)
        except Exception:  # noqa: BLE001  the pipe's end, or what cannot be read: no answer is possible
            os._exit(1)
        requests.put(request)
        if request is None:
            return


class _ProcessOutput:
    """The last lines of a process's standard error, read so that it never blocks."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._thread = threading.Thread(target=self._read, name="memedex-chroma-said", daemon=True)
        self._thread.start()

    def lines(self) -> list[str]:
        return [line for line in self._lines.copy() if line]

    def clear(self) -> None:
        self._lines.clear()

    def finish(self) -> None:
        """Read to the end, once the process has ended."""
        self._thread.join()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed under our hands
            while line := self._pipe.readline(_LONGEST):
                self._lines.append(line.decode(errors="replace").strip())


@contextmanager
def _ended_after(process: "subprocess.Popen[bytes]", seconds: float) -> Iterator[Callable[[], bool]]:
    """Kill the process if the block takes longer; the yielded function says whether it did.

    Nothing else ends a process that was stopped or does not read its pipe.
    """
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late.is_set
    finally:
        timer.cancel()


if __name__ == "__main__":
    from store.chroma import process  # as pickled requests name it: its errors are not those of __main__

    process.answer_requests()
