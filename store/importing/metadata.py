"""One coin's metadata: field names, dates and numbers of many programs, as a sidecar."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from store.captions.caption_text import HOLDS
from store.errors import BadSource, MemedexError
from store.importing.names import BY_CHAIN, DEEPER, INNER, MONTHS, NAMES, PERHAPS, PICTURES, READ, plain
from store.records import (
    CAPTION_FACETS,
    MAX_DESCRIPTION,
    MAX_FACET,
    MAX_TAG,
    MAX_TAGS,
    MAX_TICKER,
    bytes_of_base58,
    chains_of,
    checked_address,
    sidecar_bytes,
)

MAX_DECIMALS = 255  # the largest that a Token List allows
_EMPTY = {"", "-", "nan", "nat", "none", "null", "nil", "n/a", "na", "undefined"}  # as tables write nothing
_UNITS = ((1e17, 10**9), (1e14, 10**6), (1e11, 10**3))  # larger numbers count nano-, micro-, milliseconds
_LATEST = 2**53
_DAY = range(19700101, 21010101)  # 20240501: as seconds, that is a day in August 1970
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+", re.IGNORECASE)
_ZONE = re.compile(r"\s*(?:UTC|GMT|Z)$", re.IGNORECASE)
_SHIFT = re.compile(r"\s*(?:UTC|GMT)([+-])(\d\d?)(?::?(\d\d))?$")
_OFFSET = re.compile(r"\s+(?=[+-]\d\d:?\d\d$)")
_DAYS = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y年%m月%d日")
_COUNTED = re.compile(  # a currency, digits in groups, a decimal sign, thousands or millions, a currency
    r"(?P<before>[$€£¥] ?)?(?P<minus>-?)"
    r"(?P<whole>\d{1,3}(?:(?P<by>[,.'’ \u00a0\u202f])\d{3})(?:(?P=by)\d{3})*|\d+)"
    r"(?:(?P<sign>[.,])(?P<rest>\d+))?(?P<unit> ?[KMBkmb])?(?P<after> ?[$€£¥])?"
)
_ONLY_GROUPS = {"'", "’", "\u00a0", "\u202f"}
_UNIT = {"K": 3, "M": 6, "B": 9}
_DIGITS = re.compile(r"(\d\d?)(?P<sign>[/.-])(\d\d?)(?P=sign)(\d{4}|\d\d)(?=\D|$)")
_SHORT_YEARS = range(2008, 2040)  # that two digits mean; Bitcoin's first is 2009
_CLOCK = re.compile(r",?\s+(\d\d?):(\d\d)(:\d\d)?(?:\s*([AaPp])\.?[Mm]\.?)?(?=\s|[+-]\d|$)")
_YEARS = range(1900, 2101)  # as seconds, half an hour of 1970
_SERIAL = range(25_569 + 7_305, 25_569 + 47_482)  # days as Excel counts them, from 1990 to 2099
_FORMATS = (
    *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%z")),
    "%b %d %H:%M:%S %Y",
    "%b %d %H:%M:%S %z %Y",
)
_CHAINS = {  # as DexScreener, GeckoTerminal, CoinGecko, Trust Wallet and others call them
    "ethereum": 1, "eth": 1, "mainnet": 1, "optimism": 10, "optimistic-ethereum": 10, "cronos": 25,
    "bsc": 56, "bnb": 56, "binance-smart-chain": 56, "smartchain": 56, "gnosis": 100, "xdai": 100,
    "solana": 101, "sol": 101, "unichain": 130, "polygon": 137, "polygon-pos": 137, "matic": 137,
    "sonic": 146, "fantom": 250, "zksync": 324, "worldchain": 480, "moonbeam": 1284, "mantle": 5000,
    "base": 8453, "arbitrum": 42161, "arbitrum-one": 42161, "celo": 42220, "avalanche": 43114,
    "avax": 43114, "avalanchec": 43114, "linea": 59144, "berachain": 80094, "blast": 81457,
    "scroll": 534352,
}  # fmt: skip
IMPORT_TIME = "created_at_is_import_time"  # the sidecar's key for a coin that names no date of its own
FILLED_IN = "filled_in"  # … for what was missing in a library of another program
GIVEN = "_given"  # the end of keys that keep what a field says and cannot hold …
GIVEN_DATE = f"created_at{GIVEN}"  # … such as a date that cannot be read
_OWN = ("tier", HOLDS)  # said by exports and `list --json`, known by the library
_HELD = {  # what these fields hold
    "ticker": f"a text of at most {MAX_TICKER} signs",
    "description": f"a text of at most {MAX_DESCRIPTION:,} signs",
    "caption": f"an object of texts of at most {MAX_FACET:,} signs",
    "tags": f"a list of at most {MAX_TAGS} texts of {MAX_TAG} signs",
    "tags_categories": f"a list of at most {MAX_TAGS} texts of {MAX_TAG} signs",
}
_OF_A_TAG = ("name", "names", "tag", "label", "value", "title", "slug")  # objects that are tags
_SENTENCE = re.compile(r"[.!?](?:\s|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def is_empty(value: Any) -> bool:
    """Whether it says nothing: null, NaN, or a word that tables write for nothing."""
    if isinstance(value, str):
        return value.strip().lower() in _EMPTY
    return value is None or value != value


def is_url(value: Any) -> bool:
    """Whether it is the address of a page or a file on the network."""
    return isinstance(value, str) and value[:8].lower().startswith(("https://", "http://"))


def unix_seconds(value: Any) -> int | None:
    """UNIX seconds from a number of seconds to nanoseconds, or from a date (UTC without a time zone).

    None for an empty value. Raises BadSource for anything else, also for a date with two readings, as
    05/01/2024.
    """
    if isinstance(value, Mapping):  # Google's: {"timestamp": …, "formatted": …}
        value = value.get("timestamp", value)
    if is_empty(value):
        return None
    number = _number(value)
    found: int | None
    if number in _YEARS:
        found = None
    elif number is not None:
        day = next(_moments(f"{int(number):08d}"), None) if number in _DAY else None
        if int(number) in _SERIAL:
            day = int((number - 25_569) * 86_400)
        found = day or _seconds(Decimal(number))
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


def _moments(text: str) -> Iterator[int]:
    text = _WEEKDAY.sub("", text, count=1) if _WEEKDAY.match(text) else text
    text = re.sub(r" at (?=\d)", " ", text)
    text = _SHIFT.sub(lambda shift: f"{shift[1]}{shift[2]:0>2}:{shift[3] or '00'}", text)
    text = _CLOCK.sub(_in_24_hours, re.sub(r"(?<=\d)(?:st|nd|rd|th|er)\b", "", text), count=1)
    text = re.sub(r"[^\W\d_]{3,}", lambda word: MONTHS.get(word[0].lower(), word[0]), text)
    text = re.sub(r"(\d)\.?(?: de)? ([A-Z][a-z]+)(?: de)? (?=\d{4})", r"\1 \2 ", text)
    text = re.sub(r"^([A-Z][a-z]+ \d\d?) (?=\d{4})", r"\1, ", text)
    plain = _ZONE.sub("", text) if re.search(r"[+-]\d\d:?\d\d\s*\w+$", text) else _ZONE.sub("+00:00", text)
    plain = _OFFSET.sub("", plain)
    if dotted := re.match(r"(\d{4})[/.](\d\d?)[/.](\d\d?)(?=\D|$)", plain):
        plain = f"{dotted[1]}-{dotted[2]:0>2}-{dotted[3]:0>2}{plain[dotted.end() :]}"
    plain = re.sub(r"(?:UTC|GMT) (?=\d{4}$)", "", plain)
    if found := {*readings(plain).values()}:
        if len(found) > 1:
            return
        (plain,) = found
    for form in (None, *_FORMATS):
        try:
            moment = datetime.strptime(plain, form) if form else datetime.fromisoformat(plain)
            yield int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            continue


def readings(text: str) -> dict[str, str]:
    """A text that begins with a date in digits, with that date in ISO 8601, by each order that it allows.

    The orders are those of day, month and year: with points, as 01.05.2024, the month is never first.
    """
    digits = _DIGITS.match(text)
    if not digits:
        return {}
    first, second, last = map(int, digits.group(1, 3, 4))
    is_short = len(digits[4]) == 2
    orders = {"day": (last, second, first)}
    orders |= {} if digits["sign"] == "." else {"month": (last, first, second)}
    orders |= {"year": (first, second, last)} if is_short else {}
    found = {}
    for order, (year, month, day) in orders.items():
        with suppress(ValueError):
            at = date(year + 2000 if is_short else year, month, day)
            if not is_short or at.year in _SHORT_YEARS:
                found[order] = f"{at}{text[digits.end() :]}"
    return found


def settle_dates(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Write dates with several readings, as 05/01/2024, in the order that all others of their column allow.

    Returns a sentence for each such column. A column whose dates allow several orders, or none, stays.
    """
    told = []
    for key in sorted({key for row in rows for key in row if meaning(key) == "created_at"}):
        read = [(row, found) for row in rows if (found := readings(str(row.get(key, "")).strip()))]
        unclear = [(row, found) for row, found in read if len({*found.values()}) > 1]
        orders = set[str].intersection(*({*found} for _, found in read)) if unclear else set()
        if len(orders) == 1:
            (order,) = orders
            told.append(
                f"{key} “{_short(unclear[0][0][key])}” is read with the {order} first, as its column has it"
            )
            for row, found in unclear:
                row[key] = found[order]
    return told


def _in_24_hours(clock: re.Match[str]) -> str:
    hour, half = int(clock[1]), (clock[4] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + 12 * (half == "p")
    return f" {hour:02}:{clock[2]}{clock[3] or ''}"


def address_in(text: object) -> str | None:
    """The address of a coin that this text is; None for any other text.

    A text that merely looks like base58, as many checksums do, does not make exactly 32 bytes; one of 0x and
    64 digits is mostly a hash.
    """
    try:
        address = checked_address(text)
    except MemedexError:
        return None
    chains = chains_of(address)
    is_hash = chains == "Aptos and Starknet" or (chains == "Solana" and bytes_of_base58(address) != 32)
    return None if is_hash else address


def unwrapped(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a list with the fields that an object of it has, such as a pair's `baseToken`."""
    coin = dict(raw)
    for name in INNER:
        inner, own = coin.get(name), coin.keys() & {"name", "token_name", "symbol", "ticker"}
        if isinstance(inner, Mapping) and inner.keys() & {"name", "symbol"} and not own:
            coin = {**{key: value for key, value in coin.items() if key != name}, **inner}
    for field, paths in DEEPER.items():
        for path in paths:
            if path[0] in coin and (deeper := _at(coin, path)) is not None and not _stating(coin, field):
                coin[field] = deeper
                break
    return coin


def unfolded(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The coin of a list's entry, whose fields may stand in an object of it, and its address elsewhere."""
    coin = unwrapped(raw)
    for name in coin.keys() & {*NAMES["token_address"]}:
        held = coin[name]
        if not isinstance(held, list):
            return coin
        first = next(iter(held), None)  # one for each chain, as CoinMarketCap has them
        coin[name] = (
            next((first[key] for key in NAMES["token_address"] if key in first), None)
            if isinstance(first, Mapping)
            else first
        )
        return coin
    for name in PERHAPS:
        if address := address_in(coin.get(name)):
            return {**{key: value for key, value in coin.items() if key != name}, "address": address}
    for name in BY_CHAIN:
        chains = coin.get(name)
        by_chain = [*chains.items()] if isinstance(chains, Mapping) else []
        if isinstance(chains, list):
            by_chain = [(_at(one, ("chain_id",)), one) for one in chains]
        for chain, there in by_chain:
            held = there.get("address") if isinstance(there, Mapping) else there
            if address := address_in(held):
                known = chain_id(chain)
                return {
                    **coin,
                    "address": address,
                    **({"chainId": chain} if known else {}),
                    **({"chainId": coin["chainId"]} if "chainId" in coin else {}),
                }
    return coin


def pictured(raw: Mapping[str, Any]) -> Any:
    """What an entry says of its picture: an address or a file; None if it says nothing."""
    found = (_at(raw, path) for path in PICTURES)
    return next((value for value in found if isinstance(value, str) and value.strip()), None)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at the end of these steps into objects and lists; None without one."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def sidecar_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The sidecar: known fields under their own names, all others unchanged.

    What an optional field cannot hold is kept under its name and GIVEN (`unread` names it); `created_at` is
    missing if nothing states it. Raises BadSource or InvalidRecord for a name or address that cannot be used.
    """
    rest = {
        str(key): _finite(value)
        for key, value in unfolded(raw).items()
        if key not in _OWN and not _is_no_number(value) and not isinstance(value, bytes)
    }
    found = {key: _taken(rest, names) for key, names in NAMES.items()}
    sidecar: dict[str, Any] = {}
    if (name := one_line(_text(found["token_name"]))) is not None:
        sidecar["token_name"] = name
    ticker = one_line(_text(found["ticker"]))
    if ticker is not None:
        is_ticker = isinstance(ticker, str) and len(ticker) <= MAX_TICKER
        sidecar |= {"ticker": ticker} if is_ticker else {f"ticker{GIVEN}": ticker}
    description = _description(found["description"], rest)
    is_text = isinstance(description, str) and len(description) <= MAX_DESCRIPTION
    sidecar |= {"description": description if is_text else ""}
    sidecar |= {} if is_text else {f"description{GIVEN}": found["description"]}
    if found["token_address"] not in (None, ""):
        sidecar["token_address"] = checked_address(found["token_address"])
    sidecar |= _numbers(rest)
    for key, value in (("tags", found["tags"]), ("tags_categories", rest.pop("tags_categories", None))):
        if value is not None:
            sidecar |= _tags_of(key, value)
    if rest.get("caption", {}) != {}:
        rest |= _caption_of(rest.pop("caption"))
    sidecar |= {key: _counted(value) for key, value in rest.items()}
    sidecar_bytes(sidecar)  # an unpaired surrogate cannot be kept
    return sidecar


def _counted(value: Any) -> Any:
    """The number that a text such as "1,234,567", "1.234,50" or "$1.2M" is; other values as they are.

    One comma or point before three digits may be a decimal's or a group's, so it stays a text.
    """
    number = _COUNTED.fullmatch(value.strip()) if isinstance(value, str) else None
    if number is None:
        return value
    by, sign, rest = number["by"], number["sign"], number["rest"] or ""
    is_money, groups = bool(number["before"] or number["after"]), number["whole"].count(by) if by else 0
    is_grouped = (by and sign and by != sign) or (groups > 1 and by != ".") or by in _ONLY_GROUPS
    is_amount = is_money and (by == "," or (not by and not (sign == "," and len(rest) == 3)))
    if (by and by == sign) or not (is_grouped or is_amount) or (number["unit"] and not is_money):
        return value
    whole = number["whole"].replace(by or ",", "")
    found = Decimal(f"{number['minus']}{whole}.{rest or 0}")
    found = found.scaleb(_UNIT[number["unit"].strip().upper()]) if number["unit"] else found
    return int(found) if found == int(found) else float(found)


def _is_no_number(value: Any) -> bool:
    """Whether it is NaN or infinite, as programs write a number that they lack."""
    return isinstance(value, float) and not math.isfinite(value)


def _finite(value: Any) -> Any:
    """The value as JSON can hold it: a number within it that is missing is null, a date a text."""
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items() if not isinstance(one, bytes)}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value if not isinstance(one, bytes)]
    if isinstance(value, date):  # of a Parquet file, as are decimals
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return None if _is_no_number(value) else value


def _text(value: Any) -> Any:
    """A number as text, since names and tickers such as 404 are written as such; all else unchanged."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _tags_of(key: str, value: Any) -> dict[str, Any]:
    """The tags that can be kept, and all that was given if those are not all."""
    found = tags(value)
    fitting = [tag for tag in found if len(tag) <= MAX_TAG]
    is_whole = found is not None and len(fitting) == len(found) <= MAX_TAGS and _are_tags(value)
    return {key: fitting[:MAX_TAGS], **({} if is_whole or is_empty(value) else {f"{key}{GIVEN}": value})}


def _are_tags(value: Any) -> bool:
    """Whether all of it is among the tags that are read from it."""
    if isinstance(value, Mapping):
        return not value or bool(tags(value))
    return isinstance(value, str) or (isinstance(value, list) and all(map(tags, filter(None, value))))


def _caption_of(value: Any) -> dict[str, Any]:
    """The texts of a caption, and all that was given if those are not all."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return {f"caption{GIVEN}": value} if value else {}
    unfit = {
        facet
        for facet, text in value.items()
        if facet in CAPTION_FACETS and not (isinstance(text, str) and len(text) <= MAX_FACET)
    }
    texts = {facet: text for facet, text in value.items() if facet not in unfit}
    is_whole = all(value[facet] is None for facet in unfit)
    return {"caption": texts, **({} if is_whole else {f"caption{GIVEN}": value})}


def caption_columns(row: dict[str, Any]) -> dict[str, Any]:
    """A new dict: the row with its facet columns, as far as they are filled, as the caption."""
    rest = dict(row)
    if "caption" in rest:
        return rest
    written = {facet: rest.pop(facet, None) for facet in CAPTION_FACETS}
    if caption := {facet: text for facet, text in written.items() if text not in (None, "")}:
        rest["caption"] = caption
    return rest


def one_line(value: Any) -> Any:
    """Text without line breaks and control characters; other values unchanged."""
    return " ".join(_CONTROL.sub(" ", value).split()) if isinstance(value, str) else value


def tags(value: Any) -> list[str]:
    """Clean tags in their order, each once; what is no tag is left out.

    They are texts, parted by commas, semicolons, bars or, as boorus do, by spaces between words with
    underscores; lists of these or of objects with a name; or objects by tag or by category.
    """
    single = (  # a tag holds no comma; captioners write brackets that are no weights as \( and \)
        one_line(re.sub(r"\\([()])", r"\1", part)) for text in _tag_texts(value) for part in text.split(",")
    )
    return list(dict.fromkeys(tag for tag in single if tag))


def _tag_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (
            value.split()
            if is_booru(value)
            else value.split(next((sign for sign in ",;" if sign in value), "|"))
        )
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, str):
                yield one
            elif isinstance(one, Mapping):  # {"name": …}, {"names": [… and its aliases]}
                name = next((one[key] for key in _OF_A_TAG if key in one), None)
                yield from [name] if isinstance(name, str) else name[:1] if isinstance(name, list) else []
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if isinstance(one, list | str) and one:  # a category
                yield from _tag_texts(one)
            elif one is not False and isinstance(one, int | float | Mapping):  # a tag, with how sure it is
                yield str(key)


def is_booru(text: str) -> bool:
    """Whether it is a line of tags as boorus write them: parted by spaces, with underscores in them."""
    return "," not in text and "_" in text and " " in text.strip() and not _SENTENCE.search(text)


def unread(sidecar: Mapping[str, Any]) -> Iterator[str]:
    """What a sidecar says in fields that cannot hold it, a sentence each."""
    for key, value in sidecar.items():
        field = key.removesuffix(GIVEN)
        if key == GIVEN_DATE:
            yield f"created_at “{_short(value)}” is no date that can be read; it is kept as {key}"
        elif key != field and field in _HELD:
            yield f"{field} “{_short(value)}” is not {_HELD[field]}; it is kept as {key}"
    for key in ("decimals", "chainId"):
        value = sidecar.get(key)
        if not is_empty(value) and (isinstance(value, bool) or not isinstance(value, int)):
            yield f"{key} “{_short(value)}” is no number that can be read; it is kept as it is"


def meaning(key: str) -> str:
    """The date or number that a key states, by its name in a sidecar; "" for all other keys."""
    return next((field for field, names in READ.items() if plain(key) in names), "")


def _numbers(rest: dict[str, Any]) -> dict[str, Any]:
    """The date and the numbers that can be read; removes from `rest` the keys that they are taken from."""
    found = date_of(rest)
    for field in ("decimals", "chainId"):
        if isinstance(rest.get(field), str) and is_empty(rest[field]):
            del rest[field]
    for field, read in (
        ("decimals", partial(whole_number, least=0, most=MAX_DECIMALS)),
        ("chainId", chain_id),
    ):
        for name in _stating(rest, field):
            if (number := read(rest[name])) is not None:
                found[field] = number
                if plain(name) == plain(field):  # a `network` may say more than a number
                    del rest[name]
                break
    return found


def date_of(rest: dict[str, Any]) -> dict[str, Any]:
    """`created_at` of these fields, or what they say instead; removes the key that it is taken from."""
    names, unreadable = _stating(rest, "created_at"), []
    if rest.get(IMPORT_TIME):  # any other date is better
        names.sort(key=lambda name: name == "created_at")
    for name in names:
        try:
            seconds = unix_seconds(rest[name])
        except BadSource:
            unreadable.append(name)
            continue
        if name != "created_at":
            for key in (name, IMPORT_TIME, GIVEN_DATE):
                rest.pop(key, None)
        given = rest.pop("created_at", None)
        kept = {GIVEN_DATE: given} if "created_at" in unreadable else {}
        return {"created_at": seconds, **kept}
    given = rest.pop("created_at", None)
    return {GIVEN_DATE: rest.get(unreadable[0], given)} if unreadable else {}


def _stating(rest: Mapping[str, Any], field: str) -> list[str]:
    """The keys that say something about this date or number, the most exact first."""
    says = {name for name, value in rest.items() if not is_empty(value) and not is_url(value)}
    named = {plain(name): name for name in reversed(list(rest)) if name in says}
    if field in says:
        named[plain(field)] = field
    return [named[plain] for plain in READ[field] if plain in named]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.replace("”", "").split())
    return text if len(text) <= 60 else f"{text[:57]}…"


def _description(text: Any, rest: Mapping[str, Any]) -> Any:
    if isinstance(text, Mapping):  # by language
        text = text.get("en") or next((one for one in text.values() if isinstance(one, str) and one), None)
    elif isinstance(text, list) and all(isinstance(one, str) for one in text):
        text = "\n".join(text)
    if text is None and isinstance(extensions := rest.get("extensions"), dict):
        text = extensions.get("description")
    return "" if text is None else text


def _taken(rest: dict[str, Any], names: tuple[str, ...]) -> Any:
    """What the first of these names says; only that key is removed."""
    empty = None
    for name in names:
        if name in rest and (empty is None or rest[name] not in (None, "")):
            empty = rest.pop(name)
            if empty not in (None, ""):
                return empty
    return empty
