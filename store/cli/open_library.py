"""Open the library for a command, and close it properly."""

import tempfile
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from typing import TypeVar

from store.catalog.catalog import DISK_ERRORS
from store.cli.terminal import Terminal
from store.disk.exchange import is_interrupted
from store.disk.files import absolute
from store.disk.layout import Layout
from store.errors import InvalidRecord, MemedexError, ModelUnavailable, UnknownRecord
from store.library import Library
from store.progress import Progress
from store.reading.reader import Reader
from store.records import checked_address
from store.runtime import open_library, open_reader
from store.settings import settings

_R = TypeVar("_R", bound=Reader)
ELSEWHERE = "import makes one, --root names another place"
_SLICE = 0.2  # seconds between two looks at Chroma
CHROMA_TIMEOUT = 330.0  # seconds in which Chroma may show no progress; a probe of its files may take 300


def typed_path(text: str) -> Path:
    """A typed path. Refuses an empty one, as from an unset variable, which would mean the current folder.

    Raises ArgumentTypeError if it is empty.
    """
    if not text.strip():
        raise ArgumentTypeError("an empty text is no path")
    return Path(text)


def place_of(arguments: Namespace) -> Path:
    """The place for `memecoins/`, which need not exist: --root, else MEMEDEX_ROOT, else `res`."""
    return absolute(arguments.root or settings().root)


def root_of(arguments: Namespace) -> Path:
    """The folder of `place_of`. Raises UnknownRecord if it is a file, OSError if it cannot be looked at."""
    root = place_of(arguments)
    with suppress(FileNotFoundError, NotADirectoryError):
        if not S_ISDIR(root.stat().st_mode):
            raise UnknownRecord(f"{root} is a file; --root names the folder of a library")
    return root


def has_library(root: Path) -> bool:
    """Whether this root holds a library."""
    return Layout(root).memecoins.is_dir() or is_interrupted(root)


def no_library(root: Path) -> str:
    """The sentence that this root holds no library."""
    return f"there is no library in {root}"


def check_there_is_one(arguments: Namespace) -> None:
    """Raises UnknownRecord if there is no library: a mistyped --root must not create one."""
    if not has_library(root := root_of(arguments)):
        raise UnknownRecord(f"{no_library(root)}; {ELSEWHERE}")


@contextmanager
def reading(arguments: Namespace, terminal: Terminal) -> Iterator[Reader]:
    """The library for a command that only reads; if there is none, an empty one that leaves no trace."""
    root = root_of(arguments)
    if not has_library(root):
        terminal.say(f"{no_library(root)}; {ELSEWHERE}")
        with (
            tempfile.TemporaryDirectory(prefix="memedex-") as nowhere,
            open_reader(Path(nowhere)) as empty,
        ):
            yield empty
        return
    with _opened(lambda progress: open_reader(root, progress=progress), terminal) as reader:
        yield reader


@contextmanager
def writing(arguments: Namespace, terminal: Terminal) -> Iterator[Library]:
    """The library for a command that changes it.

    When the block ends, Chroma has caught up or is reported behind.
    """
    check_there_is_one(arguments)
    with making(arguments, terminal) as library:
        yield library


@contextmanager
def making(arguments: Namespace, terminal: Terminal) -> Iterator[Library]:
    """Like `writing`, but the library is created if there is none."""
    root = root_of(arguments)
    with closing(_opened(lambda progress: open_library(root, progress=progress), terminal)) as library:
        yield library
        follow(library, terminal)
        with suppress(MemedexError, *DISK_ERRORS):  # no room: tomorrow again; doctor says what is wrong
            library.catalog.keep_snapshot("daily")


def _opened(opening: Callable[[Progress], _R], terminal: Terminal) -> _R:
    """Open with a progress bar, because thousands of files may be new; Ctrl-C stops it."""
    opened = terminal.watch(opening)
    if terminal.was_interrupted:
        opened.close()
        raise KeyboardInterrupt
    return opened


def follow(library: Library, terminal: Terminal) -> None:
    """Wait until Chroma has every decision, or say that it is behind."""
    if not has_followed(library, terminal):
        fault = _fault(library)
        what = (
            f"Chroma does not follow ({fault})" if fault else f"Chroma is {_behind(library):,} records behind"
        )
        terminal.say(f"{what}; nothing is lost, it catches up when the library is opened next")


def has_followed(library: Library, terminal: Terminal) -> bool:
    """Wait until Chroma has every decision, while it gets on and has no fault; returns whether it has."""

    def work(progress: Progress) -> bool:
        progress.what = "Chroma follows"
        progress.total = behind = _behind(library)
        moved = time.monotonic()
        while not progress.cancelled and time.monotonic() - moved < CHROMA_TIMEOUT:
            if library.wait_for_chroma(_SLICE):
                return True
            if _fault(library):
                return False
            if (now := _behind(library)) != behind:
                behind, moved = now, time.monotonic()
                progress.total = max(progress.total, behind)
                progress.done = progress.total - behind
        return False

    return library.wait_for_chroma(0) or terminal.watch(work)


def check_addresses_or_all(arguments: Namespace) -> None:
    """Exit with wrong usage unless either addresses or --all are given."""
    if bool(arguments.addresses) == arguments.all:
        usage: ArgumentParser = arguments.parser
        usage.error(f"give addresses or --all{', not both' if arguments.all else ''}")


def spelled(addresses: list[str]) -> list[str]:
    """The addresses as stored; what is not an address is left for the library to refuse."""
    return [_spelled(address) for address in addresses]


def _spelled(address: str) -> str:
    try:
        return checked_address(address)
    except InvalidRecord:
        return address


def _fault(library: Library) -> str:
    try:
        return library.status().chroma_fault
    except ModelUnavailable:  # which Chroma does not need
        return ""


def _behind(library: Library) -> int:
    with library.catalog.reading() as db:
        return int(db.execute("SELECT count(*) FROM chroma_queue").fetchone()[0])
