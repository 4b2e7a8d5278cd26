"""Chroma in a process of its own: `python -m store.chroma.worker`, told through its pipes what to be.

Measured on chromadb 1.5.9: the index files are written with whatever lay in unused memory of the writing
process, so that in the program's own process a text deleted long ago turned up in `data_level0.bin`. This
process is never told a text of the memory, and it ends when something has to be forgotten.
"""

import os
import pickle
import sys
import threading
from queue import SimpleQueue
from typing import Any, BinaryIO

Request = tuple[str, tuple[Any, ...], dict[str, Any]] | None


def main() -> None:
    """Answer (True, result) or (False, what went wrong) to each (verb, arguments, keywords), until None."""
    requests: SimpleQueue[Request] = SimpleQueue()
    with os.fdopen(os.dup(0), "rb") as given, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # a library that prints must not spoil an answer
        make, arguments, keywords = pickle.load(given)
        threading.Thread(target=_read, args=(given, requests), daemon=True).start()
        chroma = make(*arguments, **keywords)
        while (request := requests.get()) is not None:
            verb, arguments, keywords = request
            answer: tuple[bool, Any]
            try:
                answer = (True, getattr(chroma, verb)(*arguments, **keywords))
            except BaseException as error:  # noqa: BLE001  Chroma's Rust panics are no Exceptions
                answer = (False, f"{type(error).__name__}: {error}")
            pickle.dump(answer, answers)
            answers.flush()
        chroma.close()


def _read(given: BinaryIO, requests: "SimpleQueue[Request]") -> None:
    """Hand on what is asked; whoever asks and dies takes this process along at once.

    The next program may open the same folder, and two processes on it lose vectors.
    """
    while True:
        try:
            request: Request = pickle.load(given)
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(1)
        requests.put(request)
        if request is None:
            return


if __name__ == "__main__":
    main()
    sys.exit()
