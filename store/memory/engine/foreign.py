"""What other programs write: numbers and dates by what they mean, vectors and models, fields of their own."""

import contextlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.disk.sqlite import is_integer, marks
from store.embedding.protocol import OFFLINE
from store.errors import BadSource
from store.importing.metadata import unix_seconds
from store.memory.engine.change import ADOPTED, MemoryChange
from store.memory.engine.kind import UNKNOWN, MemoryKind

# When something was said or stored, by the names that programs give it, the surest first: those of recorded
# sessions and of agents' memories; mem0, Letta and OpenAI's API (created_at); ChatGPT's export (create_time);
# JavaScript's spellings.
TIMES = (
    "ts", "timestamp", "created_at", "createdAt", "create_time", "createTime", "created", "datetime", "date",
    "time", "sent_at", "sentAt", "recorded_at", "stored_at", "added_at", "inserted_at",
    "updated_at", "updatedAt", "update_time", "modified_at", "last_modified",
)  # fmt: skip
_EPOCH = re.compile(r"\d{9,19}(\.\d+)?")  # nine digits: 1973; a day such as 20260131 has eight
_EARLIEST = 100_000_000  # seconds: 1973
_ZONE, _SLASHES = re.compile(r"\s*(UTC|GMT)$"), re.compile(r"^(\d{4})/(\d\d)/(\d\d)")
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # nano-, micro- and milliseconds, by their size


def moment(value: Any) -> str | None:
    """A time as sortable ISO 8601 in UTC: of a date with one reading, or since 1970 in any unit; or None."""
    try:
        if isinstance(value, str):
            found = _written(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(_seconds(value), UTC)
        else:
            return None
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
        return found.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return None


def time_of(fields: Mapping[str, Any]) -> str | None:
    """The time under whichever of `TIMES` it is, as `moment` gives it. Raises ValueError for a bad one."""
    unread = ""
    for name in TIMES:
        if (value := fields.get(name)) not in (None, ""):
            if found := moment(value):
                return found
            unread = unread or f"its {name} {str(value)[:40]!r} is no date or time"
    if unread:
        raise ValueError(unread)
    return None


def whole_number(value: Any) -> int | None:
    """A whole number that SQLite can store, also as 3.0 or "3"; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,19}(\.0*)?\s*", value):
        value = int(value.strip().partition(".")[0])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if is_integer(value) else None


def _written(text: str) -> datetime:
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(_seconds(float(text)), UTC)
    try:
        return datetime.fromisoformat(_ZONE.sub("+00:00", _SLASHES.sub(r"\1-\2-\3", text)))
    except ValueError:
        with contextlib.suppress(ValueError, TypeError):
            return parsedate_to_datetime(text)
    try:
        seconds = unix_seconds(text) or 0
    except BadSource as error:
        raise ValueError(str(error)) from error
    if seconds < _EARLIEST:  # a word for nothing, or a number that counts something else
        raise ValueError(f"{text[:40]!r} is no date")
    return datetime.fromtimestamp(seconds, UTC)


def _seconds(since_1970: float) -> float:
    return next((since_1970 / unit for least, unit in _UNITS if since_1970 > least), since_1970)


_LOCAL = ("all-", "paraphrase-", "multi-qa-", "msmarco-", "sentence-transformers/")
_FAMILIES = ("litellm", "sentence-transformers", "openclip")


def as_vector(value: Any) -> bytes | None:
    """Float32 bytes of a list, a JSON or pgvector text, or bytes; None for none. Raises ValueError."""
    if value is None or (isinstance(value, str | bytes) and not value.strip()):
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        numbers = _of_bytes(bytes(value))
    else:
        numbers = _of_list(_parsed(value) if isinstance(value, str) else value)
    if not numbers.size:
        return None
    if not np.isfinite(numbers).all() or not numbers.any():
        raise ValueError("its vector is not made of finite numbers, one of them other than 0")
    return bytes(numbers.tobytes())


def _of_bytes(value: bytes) -> NDArray[np.float32]:
    if value[:1] == b"[" and value.rstrip()[-1:] == b"]":  # JSON as bytes, unless they only look like it
        with contextlib.suppress(ValueError):
            return _of_list(_parsed(value.decode("utf-8")))
    if len(value) % 4:
        raise ValueError(f"its vector has {len(value):,} bytes, which are no float32 numbers")
    return np.frombuffer(value, np.float32)


def _of_list(value: Any) -> NDArray[np.float32]:
    try:
        numbers = np.asarray(value)
    except ValueError:
        numbers = np.zeros(0, np.str_)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iuf"):
        raise ValueError("its vector is not a list of numbers")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(numbers, "<f4")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("its vector is not a list of numbers") from error


def model_name(name: str | None) -> str:
    """The full name of a model that another program names; "unknown" for none. `X` means `litellm:X`."""
    given = (name or "").strip()
    if given in ("", UNKNOWN):
        return UNKNOWN
    if given.partition(":")[0] in (OFFLINE, *_FAMILIES):
        return given
    if given.startswith(_LOCAL):
        return f"sentence-transformers:{given.removeprefix('sentence-transformers/')}"
    return f"litellm:{given}"


def keep_fields(change: MemoryChange, id: str, metadata: Mapping[str, Any]) -> None:
    """Store fields without a column of their own with this entry, so that an export can give them back."""
    change.upsert({"id": id, "metadata": json.dumps(metadata)}, table=ADOPTED)


def kept_fields(db: sqlite3.Connection, kind: MemoryKind, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The metadata of those of these entries that came with some."""
    query = f"SELECT id, metadata FROM adopted WHERE kind = ? AND id IN ({marks(ids)})"
    return {id: json.loads(text) for id, text in db.execute(query, [kind.name, *ids])}
