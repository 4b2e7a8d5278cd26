"""Chroma in a process of its own: `python -m store.memory.chroma_worker FOLDER`, asked through its pipes.

Measured on chromadb 1.5.9: the index files are written with whatever lay in unused memory of the writing
process, so that in the program's own process a text deleted long ago turned up in `data_level0.bin`. This
process is never told a text, and it ends when something has to be forgotten.
"""

import os
import pickle
import sys
from pathlib import Path

from store.memory.chroma import Chroma


def main(folder: Path) -> None:
    """Answer (True, None) or (False, what went wrong) to each (verb, arguments, keywords), until the end."""
    requests, chroma = sys.stdin.buffer, Chroma(folder)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # a library that prints must not spoil an answer
        while True:
            try:
                verb, arguments, keywords = pickle.load(requests)
            except EOFError:
                break
            answer: tuple[bool, str | None] = (True, None)
            try:
                getattr(chroma, verb)(*arguments, **keywords)
            except BaseException as error:  # noqa: BLE001  Chroma's Rust panics are no Exceptions
                answer = (False, f"{type(error).__name__}: {error}")
            pickle.dump(answer, answers)
            answers.flush()
    chroma.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
