"""Numbers and dates of other programs, read by what they mean."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from store.disk.sqlite_values import is_integer

# When something was said or stored, by the names that programs give it, the surest first: those of recorded
# sessions and of agents' memories; mem0, Letta and OpenAI's API (created_at); ChatGPT's export (create_time);
# JavaScript's spellings.
TIMES = (
    "ts", "timestamp", "created_at", "createdAt", "create_time", "createTime", "created", "datetime", "date",
    "time", "sent_at", "sentAt", "recorded_at", "stored_at", "added_at", "inserted_at",
    "updated_at", "updatedAt", "update_time", "modified_at", "last_modified",
)  # fmt: skip
_EPOCH = re.compile(r"\d{9,19}(\.\d+)?")  # nine digits: 1973; a day such as 20260131 has eight
_ZONE, _SLASHES = re.compile(r"\s*(UTC|GMT)$"), re.compile(r"^(\d{4})/(\d\d)/(\d\d)")
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # nano-, micro- and milliseconds, by their size


def moment(value: Any) -> str | None:
    """A time as sortable text, ISO 8601 in UTC: from ISO 8601, an e-mail's date, or time since 1970.

    Time since 1970 is in seconds, or in milli-, micro- or nanoseconds if it is too large for seconds. None
    for anything else.
    """
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
    """The time in these fields as `moment` gives it, under whichever of `TIMES` it is; None without one.

    Raises ValueError, which names the field, if there is one and none can be read.
    """
    given = {name: fields[name] for name in TIMES if fields.get(name) not in (None, "")}
    for value in given.values():
        if found := moment(value):
            return found
    for name, value in given.items():
        raise ValueError(f"its {name} {str(value)[:40]!r} is no date or time")
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
        return parsedate_to_datetime(text)


def _seconds(since_1970: float) -> float:
    return next((since_1970 / unit for least, unit in _UNITS if since_1970 > least), since_1970)
