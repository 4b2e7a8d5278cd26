"""Read dates and whole numbers in the spellings of other programs, by what they mean."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from store.errors import BadSource

MAX_DECIMALS = 255  # the largest that a Token List allows
_EMPTY = {"", "-", "nan", "nat", "none", "null", "nil", "n/a", "na", "undefined"}  # as tables write nothing
_UNITS = ((1e17, 10**9), (1e14, 10**6), (1e11, 10**3))  # larger numbers count nano-, micro-, milliseconds
_LATEST = 2**53
_DAY = range(19700101, 21010101)  # 20240501: as seconds, that is a day in August 1970
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+", re.IGNORECASE)
_ZONE = re.compile(r"\s*(?:UTC|GMT|Z)$", re.IGNORECASE)
_OFFSET = re.compile(r"\s+(?=[+-]\d\d:?\d\d$)")
_DAYS = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y")
_FORMATS = (
    *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%z")),
    "%b %d %H:%M:%S %Y",
)
_CHAINS = {  # as DexScreener, GeckoTerminal and others call them
    "ethereum": 1, "eth": 1, "mainnet": 1, "optimism": 10, "bsc": 56, "bnb": 56, "binance-smart-chain": 56,
    "solana": 101, "sol": 101, "polygon": 137, "polygon-pos": 137, "fantom": 250, "base": 8453,
    "arbitrum": 42161, "arbitrum-one": 42161, "avalanche": 43114, "avax": 43114, "linea": 59144,
    "blast": 81457,
}  # fmt: skip


def is_empty(value: Any) -> bool:
    """Whether it says nothing: null, NaN, or a word that tables write for nothing."""
    if isinstance(value, str):
        return value.strip().lower() in _EMPTY
    return value is None or value != value


def unix_seconds(value: Any) -> int | None:
    """UNIX seconds from a number of seconds to nanoseconds, or from a date (UTC without a time zone).

    None for an empty value. Raises BadSource for anything else, also for a date with two readings, as
    05/01/2024.
    """
    if is_empty(value):
        return None
    number = _number(value)
    found: int | None
    if number is not None:
        found = _of_day(int(number)) if number in _DAY else _seconds(Decimal(number))
    else:
        found = next(_moments(value.strip()), None) if isinstance(value, str) else None
    if found is None or not 0 <= found < _LATEST:
        raise BadSource(f"{_short(value)} is no date that can be read")
    return found


def whole_number(value: Any, *, least: int, most: int = 2**53) -> int | None:
    """A whole number in any spelling (9, 9.0, " 9 ", "9,0", "0x9"); None for anything else."""
    number = _number(value)
    if number is None or number != int(number):
        return None
    return int(number) if least <= int(number) <= most else None


def chain_id(value: Any) -> int | None:
    """The number of a chain, from a number, a name, or both as in "eip155:56"; None for anything else."""
    if isinstance(value, str):
        family, colon, reference = value.strip().lower().partition(":")
        named = _CHAINS.get(re.sub(r"[\s_]+", "-", family))
        if named:
            return named
        value = reference if colon and family == "eip155" else value
    return whole_number(value, least=1)


def _number(value: Any) -> int | Decimal | None:
    """The number that it is or spells; None for anything else, infinity included."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    text = str(value).strip() if isinstance(value, float | str) else ""
    try:
        if text.lower().startswith("0x"):
            return int(text, 16)
        number = Decimal(re.sub(r"^(\d+),(0+)$", r"\1.\2", text.removeprefix("'")))
    except (ValueError, InvalidOperation):
        return None
    return number if number.is_finite() and abs(number) < 2**64 else None


def _seconds(number: Decimal) -> int | None:
    if abs(number) >= 2**63:  # in any unit
        return None
    unit = next((unit for more, unit in _UNITS if abs(number) > more), 1)
    return int(number // unit)


def _of_day(number: int) -> int | None:
    return next(_moments(f"{number:08d}"), None) or _seconds(Decimal(number))


def _moments(text: str) -> Iterator[int]:
    text = _WEEKDAY.sub("", text, count=1) if _WEEKDAY.match(text) else text
    plain = _ZONE.sub("", text) if re.search(r"[+-]\d\d:?\d\d\s*\w+$", text) else _ZONE.sub("+00:00", text)
    plain = _OFFSET.sub("", plain)
    readers = [datetime.fromisoformat, *(_reader(form) for form in _FORMATS)]
    for reader in readers:
        try:
            moment = reader(re.sub(r"^(\d{4})/(\d\d?)/(\d\d?)", r"\1-\2-\3", plain))
            yield int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            continue


def _reader(form: str) -> Any:
    return lambda text: datetime.strptime(text, form)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
