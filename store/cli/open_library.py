"""Open the library for a command, and close it properly."""

import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Protocol, TypeVar
from warnings import catch_warnings, simplefilter

from store.catalog.catalog import DISK_ERRORS
from store.cli.terminal import Terminal
from store.disk.exchange import is_interrupted
from store.disk.files import absolute
from store.disk.layout import Layout
from store.errors import ChromaBehind, InvalidRecord, MemedexError, UnknownRecord
from store.library import Library
from store.progress import Progress
from store.reading.reader import Reader
from store.records import checked_address
from store.runtime import open_library, open_reader
from store.settings import settings


class Followed(Protocol):
    """A library or text memory that Chroma follows."""

    def follow_chroma(self, progress: Progress | None = None, *, patience: float | None = None) -> str:
        """Wait for Chroma; returns why it is behind, or ""."""


class Opened(Followed, Protocol):
    """One that this process opened."""

    def close(self, *, longest: float) -> None:
        """Close it, and wait for Chroma so many seconds at most."""


_R = TypeVar("_R", bound=Reader)
_W = TypeVar("_W", bound=Opened)
ELSEWHERE = "import makes one, --root names another place"
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
    opened = _opened(lambda progress: open_library(root, progress=progress), terminal)
    with followed(opened, terminal) as library:
        yield library
        with suppress(MemedexError, *DISK_ERRORS):  # no room: tomorrow again; doctor says what is wrong
            library.catalog.keep_snapshot("daily")


@contextmanager
def followed(kept: _W, terminal: Terminal) -> Iterator[_W]:
    """Close it after the block, when Chroma has caught up or is reported behind."""
    try:
        try:
            yield kept
        except Exception:
            has_followed(kept, terminal)  # what was done before it failed stays done
            raise
        has_followed(kept, terminal)
    finally:
        with catch_warnings():
            simplefilter("ignore", ChromaBehind)  # it was said
            kept.close(longest=0)


def _opened(opening: Callable[[Progress], _R], terminal: Terminal) -> _R:
    """Open with a progress bar, because thousands of files may be new; Ctrl-C stops it."""
    opened = terminal.watch(opening)
    if terminal.was_interrupted:
        opened.close()
        raise KeyboardInterrupt
    return opened


def has_followed(kept: Followed, terminal: Terminal) -> bool:
    """Wait until Chroma has every decision, while it gets on; returns whether it has, or says why not."""
    lag = terminal.watch(lambda progress: kept.follow_chroma(progress, patience=CHROMA_TIMEOUT))
    if lag:
        terminal.say(lag)
    return not lag


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
