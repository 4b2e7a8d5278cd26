"""Make a backup: the catalog at one moment first, then each record's files as that catalog knows them.

Its manifest lists every file with its SHA-256, so that a damaged one is detected and named.
"""

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from secrets import token_hex

from store.catalog import checksums, pages
from store.catalog.rows import state_of
from store.disk.aside import PREFIX, moved_aside
from store.disk.files import Disk, absolute, content_hash, open_regular, read_regular, refused
from store.disk.layout import Layout
from store.disk.sqlite import to_read
from store.disk.sqlite_identity import identify
from store.errors import BadBackup, MaybeWritten, NotWritten
from store.importing.candidate import shown
from store.operations import Operation, State
from store.outcome import Outcome, Refusal
from store.progress import Progress
from store.reading.reader import Reader
from store.records import TIERS

MANIFEST = "manifest.json"
KIND, VERSION = "memedex backup", 1
_LARGEST = 1_000_000_000  # bytes; of a million records it has a third
PLACES = ("memecoins", "memory", "taxonomy.json")  # what a root may hold; nothing else is put back
_LOOKS = 10  # at the places of a picture that another process is moving
_PAUSE = 0.02  # seconds between two of them
_BESIDE_SQLITE = ("-wal", "-shm", "-journal")


@dataclass(slots=True)
class Manifest:
    """The files of a backup, by their relative path, with `/` on every system."""

    made_at: float = field(default_factory=time.time)  # UNIX seconds
    files: dict[str, str] = field(default_factory=dict)  # path → SHA-256
    kind: str = KIND
    version: int = VERSION

    def write(self, folder: Path) -> None:
        """Write the list to this folder."""
        content = json.dumps(asdict(self), indent=1).encode()
        Disk().replace(folder / MANIFEST, content)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the backup in this folder. Raises BadBackup if there is none that can be trusted."""
    try:
        fields = json.loads(read_regular(folder / MANIFEST, limit=_LARGEST))
    except (FileNotFoundError, NotADirectoryError):
        raise BadBackup(f"{folder} is no backup: it has no {MANIFEST}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadBackup(f"the {MANIFEST} in {folder} cannot be read: {error}") from error
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise BadBackup(f"the {MANIFEST} in {folder} is not that of a backup")
    if fields.get("version") != VERSION:
        raise BadBackup(
            f"the backup in {folder} has version {fields.get('version')!r}, this program knows {VERSION}"
        )
    files, made_at = fields.get("files"), fields.get("made_at")
    if not isinstance(files, dict) or not isinstance(made_at, int | float):
        raise BadBackup(f"the {MANIFEST} in {folder} is damaged")
    for name, digest in files.items():
        if not _is_honest(name) or not isinstance(digest, str):
            raise BadBackup(f"the {MANIFEST} in {folder} names {shown(name)!r}, which no backup holds")
    return Manifest(made_at=made_at, files=files)


def damaged_files(folder: Path, manifest: Manifest, *, progress: Progress) -> Iterator[Refusal]:
    """Every file that is missing or changed, found by reading all of them."""
    whole = folder.resolve()
    for name, expected in manifest.files.items():
        path = folder / name
        if path.is_symlink() or not path.is_file() or not path.resolve().is_relative_to(whole):
            yield Refusal(name, "it is missing")
        else:
            try:
                found = digest_of(path)
            except OSError as error:
                yield Refusal(name, f"it cannot be read: {error.strerror}")
            else:
                if found != expected:
                    yield Refusal(name, "it is damaged: its content is not what was backed up")
        progress.done += 1


def digest_of(path: Path) -> str:
    """The SHA-256 of a file of any size."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_honest(name: str) -> bool:
    """Whether the name stays inside the backup and the root; a manifest may be untrusted."""
    path = PurePosixPath(name)
    return (
        bool(path.parts)
        and path.parts[0] in PLACES
        and ".." not in path.parts
        and path.as_posix() == name
        and "\0" not in name
        and not (os.name == "nt" and any(sign in name for sign in "\\:"))
    )


def backup(reader: Reader, destination: Path, *, progress: Progress | None = None) -> Outcome:
    """Copy the library as it is at one moment; the copy appears complete and verified, or not at all.

    Works while another process writes. Records whose picture is gone or changed are refused; their sidecars
    are in the backup nevertheless. Raises BadBackup for a place that exists or is inside the library,
    NotWritten if the disk refuses. If cancelled, it leaves nothing.
    """
    progress, outcome = progress or Progress(), Outcome()
    _make(
        destination, reader.layout, lambda place: _copy(reader, place, outcome, progress), progress=progress
    )
    return Outcome() if progress.cancelled else outcome


def backup_memory(root: Path, destination: Path, *, progress: Progress | None = None) -> Outcome:
    """Copy a root that has a text memory and no library; `done` are the files. Otherwise like `backup`."""
    progress, outcome, layout = progress or Progress(), Outcome(), Layout(root.resolve())

    def copy(place: Path) -> None:
        listed, files = Manifest(), [*other_files(layout)]
        progress.what, progress.total = "copying", len(files)
        for path in files:
            if progress.cancelled:
                return
            listed.files.update(copy_other(path, place / path.relative_to(layout.root), place))
            progress.done += 1
        _finish(place, listed, progress)
        outcome.done += listed.files

    _make(destination, layout, copy, progress=progress)
    return Outcome() if progress.cancelled else outcome


def _make(destination: Path, layout: Layout, copy: Callable[[Path], None], *, progress: Progress) -> None:
    """Let `copy` fill a new folder, which then becomes the destination; if cancelled, nothing is left."""
    destination = absolute(destination)
    _check_place(destination, layout)
    unfinished, is_made = destination.with_name(f".{destination.name}.{token_hex(4)}.unfinished"), False
    try:
        unfinished.mkdir(parents=True)
        copy(unfinished)
        if progress.cancelled:
            return
        if destination.exists():
            destination.rmdir()
        unfinished.rename(destination)
        is_made = True
        Disk().fsync_folders([destination.parent])
    except (OSError, sqlite3.Error) as error:
        reason = refused(error, destination).partition(f": {unfinished}")[0]  # its user does not know it
        if is_made:
            raise MaybeWritten(
                f"the backup in {destination} is whole, but the disk does not confirm its name ({reason}): "
                "after a power cut it may be gone; check the disk"
            ) from error
        raise NotWritten(f"no backup was made in {destination}: {reason}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _check_place(destination: Path, layout: Layout) -> None:
    if destination.exists() and not (destination.is_dir() and not any(destination.iterdir())):
        raise BadBackup(f"there is something at {destination} already; a backup needs a new place")
    if layout.owns(destination):
        raise BadBackup(f"{destination} lies inside the library; a backup needs a place outside")


def _copy(reader: Reader, place: Path, outcome: Outcome, progress: Progress) -> None:
    source, target, listed = reader.layout, Layout(place), Manifest()
    target.memecoins.mkdir()
    reader.catalog.backup(target.catalog)
    with contextlib.closing(_settled(target.catalog)) as db:
        states = _states(db)
        progress.what, progress.total = "copying", len(states)
        for address, state in states.items():
            if progress.cancelled:
                return
            _copy_record(db, source, target, address, state, listed, outcome)
            progress.done += 1
    listed.files[_name(target.catalog, place)] = digest_of(target.catalog)
    for path in (*_unknown(reader, states), *other_files(source)):
        listed.files.update(copy_other(path, place / path.relative_to(source.root), place))
    _finish(place, listed, progress)


def _finish(place: Path, listed: Manifest, progress: Progress) -> None:
    """Bring the copy to the disk, list its files, and read all of them back."""
    if hasattr(os, "sync"):
        os.sync()
    else:
        for name in listed.files:
            with (place / name).open("rb+") as file:
                os.fsync(file.fileno())
    listed.write(place)
    progress.what, progress.total, progress.done = "reading back", len(listed.files), 0
    for fault in damaged_files(place, listed, progress=progress):
        raise NotWritten(f"no backup was made: {fault.item} was not written well; {fault.reason}")


def _settled(catalog: Path) -> sqlite3.Connection:
    """The copied catalog as one file, marked so that Chroma, which is not copied, is rebuilt."""
    db = sqlite3.connect(catalog, isolation_level=None)
    db.row_factory = sqlite3.Row
    checksums.install(db)
    db.execute("PRAGMA journal_mode = DELETE")
    if fault := pages.first_fault(db):
        db.close()
        raise BadBackup(f"the catalog is damaged ({fault}), a copy of it would be no backup; see doctor")
    db.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", [("chroma_rebuild", "1"), ("chroma_dirty", "")]
    )
    return db


def _states(db: sqlite3.Connection) -> dict[str, State]:
    """The state of each record; for a decided operation that is not finished, the one after it."""
    states = {row["address"]: state_of(row) for row in db.execute("SELECT * FROM records")}
    for (text,) in db.execute("SELECT operation FROM journal ORDER BY rowid").fetchall():
        states |= {change.address: change.after for change in Operation.from_json(text).changes}
    return states


def _copy_record(
    db: sqlite3.Connection,
    source: Layout,
    target: Layout,
    address: str,
    state: State,
    listed: Manifest,
    outcome: Outcome,
) -> None:
    content = _sidecar(db, source, address, state)
    if content is None:
        outcome.refused.append(Refusal(address, "its text is damaged; doctor --repair gives it back"))
        return
    sidecar, picture = target.sidecar(state.tier, address), target.image(state.tier, address)
    for folder in (sidecar.parent, picture.parent):
        folder.mkdir(parents=True, exist_ok=True)
    sidecar.write_bytes(content)
    listed.files[_name(sidecar, target.root)] = state.sidecar_hash
    if _copy_picture(source, address, state, picture):
        listed.files[_name(picture, target.root)] = state.image_hash
        outcome.done.append(address)
    else:
        outcome.refused.append(Refusal(address, "its picture is gone or was changed; doctor says more"))


def _sidecar(db: sqlite3.Connection, source: Layout, address: str, state: State) -> bytes | None:
    """The sidecar from the catalog, or from the file if that copy is damaged."""
    (content,) = db.execute(
        "SELECT CAST(text AS BLOB) FROM sidecars WHERE hash = ?", [state.sidecar_hash]
    ).fetchone()
    if content_hash(content) == state.sidecar_hash:
        return bytes(content)
    with contextlib.suppress(OSError):
        content = source.sidecar(state.tier, address).read_bytes()
        if content_hash(content) == state.sidecar_hash:
            return bytes(content)
    return None


def _copy_picture(source: Layout, address: str, state: State, target: Path) -> bool:
    """Copy the picture with the expected content, from whichever tier or operation has it now."""
    for look in range(_LOOKS):
        if look:
            time.sleep(_PAUSE)
        for place in _places(source, address, state):
            with contextlib.suppress(FileNotFoundError):
                _link_or_copy(place, target)
                if digest_of(target) == state.image_hash:
                    return True
                target.unlink()
    return False


def _places(layout: Layout, address: str, state: State) -> Iterator[Path]:
    yield layout.image(state.tier, address)
    yield from (layout.image(tier, address) for tier in TIERS if tier != state.tier)
    if layout.operations.is_dir():
        yield from (folder / f"{address}.jpg" for folder in layout.operations.iterdir())


def _link_or_copy(source: Path, target: Path) -> None:
    """Make a hard link if possible: our pictures are renamed but never written to."""
    try:
        if not source.is_symlink():
            os.link(source, target)
            return
    except FileNotFoundError:
        raise
    except OSError:  # another disk, or one without links
        pass
    shutil.copyfile(source, target)


def _unknown(reader: Reader, states: Collection[str]) -> list[Path]:
    """Sidecars and pictures made outside that could not be imported, so that no catalog knows them."""
    layout = reader.layout
    folders = {place(tier) for tier in TIERS for place in (layout.sidecar_folder, layout.image_folder)}
    found = [path for folder in sorted(folders) if folder.is_dir() for path in sorted(folder.iterdir())]
    # After them: another process may have put some there meanwhile. At one moment: an operation may leave the
    # journal between two questions.
    with reader.catalog.one_moment() as db:
        known = {*states, *_states(db)}
    return [
        path
        for path in found
        if path.suffix in (".json", ".jpg") and path.stem not in known and not path.name.startswith(".")
        if path.is_file() and not path.is_symlink()
    ]


def _name(path: Path, place: Path) -> str:
    return path.relative_to(place).as_posix()


def other_files(layout: Layout) -> Iterator[Path]:
    """Files that no catalog knows: own taxonomy, memory without its Chroma, what was moved aside."""
    if (layout.root / "taxonomy.json").is_file():
        yield layout.root / "taxonomy.json"
    derived = layout.root / "memory" / "chroma"
    aside = [one.place for one in moved_aside(layout.memecoins, layout.chroma)]
    for folder in (layout.root / "memory", layout.set_aside, *aside):
        for path in sorted(folder.rglob("*")):
            if path == derived.with_suffix(".dirty") or path.is_relative_to(derived):
                continue
            if path.is_file() and not path.is_symlink() and path.suffix not in (".lock", ".holder"):
                yield path


def copy_other(source: Path, target: Path, place: Path) -> dict[str, str]:
    """Copy one file, a database through SQLite because it may be in use; returns its manifest entry."""
    if source.name.endswith(_BESIDE_SQLITE) and not source.parent.name.startswith(PREFIX):
        return {}
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if _is_database(source) and not source.parent.name.startswith(PREFIX):
            with (
                closing(sqlite3.connect(to_read(source), uri=True)) as db,
                closing(sqlite3.connect(target, isolation_level=None)) as copy,
            ):
                db.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
        else:
            shutil.copyfile(source, target)
    except FileNotFoundError:  # removed a moment ago
        return {}
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        shutil.copyfile(source, target)  # damaged, or of an unknown kind: as it is
    return {target.relative_to(place).as_posix(): digest_of(target)}


def _is_database(path: Path) -> bool:
    try:
        return identify(path) is not None
    except sqlite3.DatabaseError:
        return False
