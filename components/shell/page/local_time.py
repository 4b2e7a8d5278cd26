"""Times in the time zone of the reader's browser; UTC until it is known."""

from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from components.shell import format


def zone() -> tzinfo:
    """The browser's time zone, which it names itself."""
    name = st.context.timezone
    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return UTC


def zone_name() -> str:
    """The name of the zone, to be shown: "Europe/Berlin", "UTC"."""
    return str(zone())


def text(seconds: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """A moment (UNIX seconds) formatted by `strftime`."""
    return format.moment(seconds, form, zone=zone())


def midnight(day: date) -> float:
    """When this day begins (UNIX seconds)."""
    return at(day, time())


def at(day: date, hour: time) -> float:
    """This time of a day as UNIX seconds."""
    return datetime.combine(day, hour, zone()).timestamp()


def now() -> datetime:
    """The present time on the reader's clock."""
    return datetime.now(zone())
