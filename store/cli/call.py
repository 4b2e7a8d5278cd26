"""A command as it runs: what was given to it, the library that it opens, and what it prints.

    with call.writing() as library:
        outcome = call.watch(lambda progress: library.promote(addresses, progress=progress))
    return call.report(outcome, "promoted")

`carry_out` prints errors as one sentence each and turns them into the exit status.
"""

import json
import logging
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar
from warnings import catch_warnings, simplefilter

import typer

from store.catalog.catalog import DISK_ERRORS
from store.cli.terminal import Terminal, plain
from store.disk.exchange import is_interrupted
from store.disk.files import absolute, refused
from store.disk.layout import Layout
from store.errors import (
    CatalogDamaged,
    ChromaBehind,
    InvalidRecord,
    LibraryInUse,
    MemedexError,
    UnknownRecord,
    WrongSetting,
)
from store.library import Library
from store.outcome import ImportReport, Outcome, Refusal, by_reason
from store.permissions import Operator
from store.progress import Progress
from store.reading.reader import Reader
from store.records import checked_address
from store.runtime import LibraryRuntime, open_library, open_reader
from store.settings import settings

if TYPE_CHECKING:
    from store.memory.memory import Memory

REFUSED = 1
WRONG = 2  # as wrong usage ends
IN_USE = 3
_INTERRUPTED = 130  # as shells count an end by Ctrl-C

ELSEWHERE = "import makes one, --root names another place"
CHROMA_TIMEOUT = 330.0  # seconds in which Chroma may show no progress; a probe of its files may take 300
_MANY = 20  # refused for the same reason: more would hide every other one
_FIRST = 3
_OURS = "store"  # the loggers of the program; Python prints their tracebacks where they have no handler
NO_MEMORY = "there was not enough memory; what is done is kept"
_SHORT = ("allocate memory", "out of memory", "bad allocation", "std::bad_alloc", "start new thread")


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


@dataclass(frozen=True)
class Common:
    """The options that every verb has."""

    root: Path | None = None
    actor: str | None = None
    json: bool = False

    def over(self, before: "Common") -> "Common":
        """These options, or if one is not given, the one before the verb."""
        return Common(self.root or before.root, self.actor or before.actor, self.json or before.json)


class Call(Terminal):
    """One command: its terminal, the options that every verb has, and the library that it opens."""

    def __init__(self, context: typer.Context, verb: str, common: Common) -> None:
        super().__init__()
        self._context = context
        self.verb = verb
        self.given_root = common.root
        self.actor = common.actor or ""
        self.json = common.json

    def fail(self, message: str) -> NoReturn:
        """End with wrong usage."""
        self._context.fail(message)

    def check_addresses_or_all(self, addresses: Sequence[str] | None, everything: bool) -> None:
        """End with wrong usage unless either addresses or --all are given."""
        if bool(addresses) == everything:
            self.fail(f"give addresses or --all{', not both' if everything else ''}")

    # -- the library --------------------------------------------------------------------------------------

    @property
    def place(self) -> Path:
        """The place for `memecoins/`, which need not exist: --root, else MEMEDEX_ROOT, else `res`."""
        return absolute(self.given_root or settings().root)

    @property
    def root(self) -> Path:
        """The folder of `place`. Raises UnknownRecord if it is a file, OSError if it cannot be looked at."""
        root = self.place
        with suppress(FileNotFoundError, NotADirectoryError):
            if not S_ISDIR(root.stat().st_mode):
                raise UnknownRecord(f"{root} is a file; --root names the folder of a library")
        return root

    def check_there_is_one(self) -> None:
        """Raises UnknownRecord if there is no library: a mistyped --root must not create one."""
        if not has_library(root := self.root):
            raise UnknownRecord(f"{no_library(root)}; {ELSEWHERE}")

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The library for a command that only reads; if there is none, an empty one that leaves no trace."""
        root = self.root
        if not has_library(root):
            self.say(f"{no_library(root)}; {ELSEWHERE}")
            with (
                tempfile.TemporaryDirectory(prefix="memedex-") as nowhere,
                open_reader(Path(nowhere)) as empty,
            ):
                yield empty
            return
        with self._opened(lambda progress: open_reader(root, progress=progress)) as reader:
            yield reader

    @contextmanager
    def writing(self) -> Iterator[LibraryRuntime]:
        """The library for a command that changes it.

        When the block ends, Chroma has caught up or is reported behind.
        """
        self.check_there_is_one()
        with self.making() as library:
            yield library

    @contextmanager
    def making(self) -> Iterator[LibraryRuntime]:
        """Like `writing`, but the library is created if there is none."""
        root = self.root
        opened = self._opened(lambda progress: open_library(root, progress=progress))
        with self.followed(opened) as library:
            yield library
            with suppress(MemedexError, *DISK_ERRORS):  # no room: tomorrow again; doctor says what is wrong
                library.catalog.keep_snapshot("daily")

    @contextmanager
    def reading_memory(self, kind: str | None = None, as_of: str = "") -> Iterator["Memory"]:
        """The text memory for reading, as of the moment `as_of` if it is given.

        Raises CatalogDamaged if this kind cannot be read: an empty answer would not be true.
        """
        from store.memory.memory import Memory
        from store.memory.values import checked_moment

        self.check_there_is_a_memory()
        with Memory.open_for_reading(self.root) as memory:
            if fault := memory.status().faults.get(kind or ""):
                raise CatalogDamaged(fault)
            if as_of:
                with memory.as_of(checked_moment(as_of)) as past:
                    yield past
            else:
                yield memory

    @contextmanager
    def writing_memory(self) -> Iterator["Memory"]:
        """The text memory for a command that changes it; Chroma follows as it does in `writing`."""
        from store.memory.memory import Memory

        with self.followed(Memory.open(self.root)) as opened:
            yield opened.for_actor(Operator(via="command line"))

    def check_there_is_a_memory(self) -> None:
        """Raises UnknownEntry if there is no text memory: a mistyped --root must not make one."""
        from store.memory.memory import has_memory
        from store.memory.values import UnknownEntry

        if not has_memory(self.root):
            raise UnknownEntry(f"there is no text memory in {self.root}; --root names another place")

    @contextmanager
    def followed(self, kept: _W) -> Iterator[_W]:
        """Close it after the block, when Chroma has caught up or is reported behind."""
        try:
            try:
                yield kept
            except Exception:
                self.has_followed(kept)  # what was done before it failed stays done
                raise
            self.has_followed(kept)
        finally:
            with catch_warnings():
                simplefilter("ignore", ChromaBehind)  # it was said
                kept.close(longest=0)

    def has_followed(self, kept: Followed) -> bool:
        """Wait until Chroma has every decision, while it gets on; returns whether it has, or says why not."""
        lag = self.watch(lambda progress: kept.follow_chroma(progress, patience=CHROMA_TIMEOUT))
        if lag:
            self.say(lag)
        return not lag

    def _opened(self, opening: Callable[[Progress], _R]) -> _R:
        """Open with a progress bar, because thousands of files may be new; Ctrl-C stops it."""
        opened = self.watch(opening)
        if self.was_interrupted:
            opened.close()
            raise KeyboardInterrupt
        return opened

    # -- what it did --------------------------------------------------------------------------------------

    def change(self, done: str, work: Callable[[Library, Progress], Outcome]) -> int:
        """Change the library and report it as `done`, such as "approved"; returns the exit status."""
        with self.writing() as library:
            outcome = self.watch(lambda progress: work(library, progress))
        return self.report(outcome, done)

    def report(self, outcome: Outcome, done: str) -> int:
        """Print what was done and what was refused; returns the exit status."""
        if self.json:
            self.answer_json(
                {"done": outcome.done, "unchanged": outcome.unchanged, "refused": as_json(outcome.refused)}
            )
        unchanged = f", unchanged {len(outcome.unchanged):,}" if outcome.unchanged else ""
        refused = f", refused {len(outcome.refused):,}" if outcome.refused else ""
        self.say(f"{done} {len(outcome.done) - len(outcome.unchanged):,}{unchanged}{refused}")
        return self.named(outcome.refused)

    def report_import(self, done: ImportReport) -> int:
        """Print what was added, what existed and where, and what was refused; returns the exit status."""
        if self.json:
            self.answer_json(
                {
                    "added": done.done,
                    "present": done.present,
                    "completed": done.completed,
                    "not_taken": [asdict(one) for one in done.not_taken],
                    "unread": as_json(done.unread),
                    "undated": done.undated,
                    "refused": as_json(done.refused),
                }
            )
        where = Counter(done.present.values())
        tiers = f" ({', '.join(f'{count:,} in {tier}' for tier, count in where.items())})" if where else ""
        completed = f", {len(done.completed):,} of them completed" if done.completed else ""
        self.say(
            f"added {len(done.done):,}, already there {len(done.present):,}{tiers}{completed}, "
            f"refused {len(done.refused):,}"
        )
        for note in done.notes:
            self.say(note)
        return self.named(done.refused)

    def named(self, refused: Sequence[Refusal]) -> int:
        """Print each refused item with its reason, one for many with the same; returns the exit status."""
        for reason, found in by_reason(refused):
            if len(found) > _MANY:
                first = ", ".join(one.item for one in found[:_FIRST])
                self.say(f"refused {len(found):,} for one reason: {reason} ({first}, …; --json names each)")
            else:
                for one in found:
                    self.say(f"refused {one.item or repr('')}: {one.reason}")
        return REFUSED if refused else 0

    def answered(self, value: Any, rows: Sequence[str] = ()) -> int:
        """Print a value as JSON if `--json` is given, else these rows; returns exit status 0."""
        if self.json:
            self.answer_json(json.loads(json.dumps(value, default=str)))
        else:
            for row in rows:
                self.answer(plain(row))
        return 0

    def listed(
        self, value: Any, head: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str = ""
    ) -> int:
        """Print a value as JSON if `--json` is given, else a table, or that it is empty; returns status 0."""
        if self.json:
            self.answer_json(value)
        elif rows:
            self.answer_table(head, rows)
        else:
            self.say(empty)
        return 0


def has_library(root: Path) -> bool:
    """Whether this root holds a library."""
    return Layout(root).memecoins.is_dir() or is_interrupted(root)


def no_library(root: Path) -> str:
    """The sentence that this root holds no library."""
    return f"there is no library in {root}"


def as_json(refused: Sequence[Refusal]) -> list[dict[str, str]]:
    """Refusals as JSON objects."""
    return [{"item": refusal.item, "reason": refusal.reason} for refusal in refused]


def spelled(addresses: Sequence[str] | None) -> list[str]:
    """The addresses as stored; what is not an address is left for the library to refuse."""
    return [_spelled(address) for address in addresses or ()]


def _spelled(address: str) -> str:
    try:
        return checked_address(address)
    except InvalidRecord:
        return address


# -- errors -----------------------------------------------------------------------------------------------


def carry_out(function: Callable[[Call], int], call: Call) -> int:
    """Run a command; returns its exit status, after a sentence if it failed."""
    try:
        with print_plainly(call):
            status = int(function(call))
    except LibraryInUse as error:
        call.say(str(error))
        return IN_USE
    except WrongSetting as error:
        call.say(str(error))
        return WRONG
    except MemedexError as error:
        call.say(f"{call.verb}: {error}")
        return REFUSED
    except (OSError, sqlite3.Error) as error:
        call.say(f"{call.verb}: {refused(error, call.place)}")
        return REFUSED
    except KeyboardInterrupt:
        call.say("stopped")
        return _INTERRUPTED
    except Exception as error:
        if not is_short_of_memory(error):
            raise
        call.say(f"{call.verb}: {NO_MEMORY}")
        return REFUSED
    return _INTERRUPTED if call.was_interrupted else status


@contextmanager
def print_plainly(terminal: Terminal) -> Iterator[None]:
    """Print warnings, and errors that end a thread, in one sentence each until the block ends."""
    handler, log, before = _Plain(terminal), logging.getLogger(_OURS), threading.excepthook
    log.addHandler(handler)
    threading.excepthook = lambda ended: terminal.say(
        f"{ended.thread.name if ended.thread else 'a thread'} stopped: {_named(ended.exc_value)}"
    )
    try:
        yield
    finally:
        threading.excepthook = before
        log.removeHandler(handler)


class _Plain(logging.Handler):
    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        sentence = record.getMessage().partition("\n")[0]  # what follows is for a server's log
        is_said = cause is None or _named(cause) in sentence
        self._terminal.say(sentence if is_said else f"{sentence}: {_named(cause)}")


def is_short_of_memory(error: BaseException | None) -> bool:
    """Whether the error means that memory or threads ran out, in Python or in a library."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _SHORT)


def _named(error: BaseException | None) -> str:
    if is_short_of_memory(error):
        return NO_MEMORY
    message = " ".join(str(error).split())
    return message or type(error).__name__
