"""Chroma in a process of its own: `python -m store.chroma.worker`, controlled through its pipes.

Measured on chromadb 1.5.9: index files are written with unused memory of the writing process in them, so that
a text deleted long ago turned up in `data_level0.bin`. This process never receives a text of the memory, and
it ends when something is deleted for good.
"""

import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, BinaryIO

from store.chroma.process import ServerAway

Request = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None


def main() -> None:
    """Answer ("done", result), ("failed", error) or ("away", error) to each request, until None."""
    requests: SimpleQueue[Request] = SimpleQueue()
    with os.fdopen(os.dup(0), "rb") as requests_file, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # a library that prints must not spoil an answer
        make, arguments, keywords = pickle.load(requests_file)
        threading.Thread(target=_read, args=(requests_file, requests), daemon=True).start()
        try:
            chroma = make(*arguments, **keywords)
        except BaseException:  # noqa: BLE001  nobody is left to ask, and a reader keeps the pipe open
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


def _read(requests_file: BinaryIO, requests: "SimpleQueue[Request]") -> None:
    """Queue the requests; if the caller dies, end this process at once.

    The next program may open the same folder, and two processes on it lose vectors.
    """
    while True:
        try:
            request: Request = pickle.load(requests_file)
        except Exception:  # noqa: BLE001  the end of the pipe, or what cannot be read: nobody can be answered
            os._exit(1)
        requests.put(request)
        if request is None:
            return


if __name__ == "__main__":
    main()
    sys.exit()
