"""What came with a coin beyond the schema: rows of its panel, numbers and links of a table."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping

from components.shell import format
from store import Record
from store.records import COMMENTS, ORIGINAL, PICTURE_TEXT, REQUIRED_KEYS, UNFIT

NO_AGE = "created_at_is_import_time"  # the record came without a time of its own
_OWN_KEYS = frozenset(
    (*REQUIRED_KEYS, "tags", "tags_categories", "caption", PICTURE_TEXT, COMMENTS, UNFIT, NO_AGE)
)
_MOST = 30  # fields that are shown, each up to …
_LENGTH = 400  # characters
_LINK = "https://"
_NUMBER = re.compile(r"[-+]?\d{1,300}(?:\.\d*)?")  # as a text, which tables have
# Keys of token lists (https://tokenlists.org, https://github.com/solana-labs/token-list) that no rule
# makes readable.
_LABELS = {
    "chainId": "Chain",
    "logoURI": "Logo",
    "imdb": "IMDb",
    "url": "Website",
    "coingeckoId": "CoinGecko",
}
_CHAINS = {
    1: "Ethereum", 10: "Optimism", 56: "BNB Smart Chain", 101: "Solana", 102: "Solana testnet",
    103: "Solana devnet", 137: "Polygon", 8453: "Base", 42161: "Arbitrum One", 43114: "Avalanche",
}  # fmt: skip


def shown_fields(record: Record) -> list[tuple[str, str]]:
    """The categories, and fields of the sidecar beyond the schema, each with its label."""
    categories = [("Categories", ", ".join(record.categories))] if record.categories else []
    others = {key: value for key, value in record.sidecar.items() if key not in _OWN_KEYS}
    return categories + [(label, text[:_LENGTH]) for label, text in list(_rows(others))[:_MOST] if text]


def facts(record: Record) -> dict[str, float | str]:
    """The numbers that came with a coin, and links by https, by their labels."""
    others = {key: value for key, value in record.sidecar.items() if key not in _OWN_KEYS}
    return dict(itertools.islice(_facts(others), _MOST))


def _facts(fields: Mapping[str, object], *, within: str = "") -> Iterator[tuple[str, float | str]]:
    for key, value in fields.items():
        name = label(f"{within} {key}")
        if isinstance(value, Mapping):
            yield from _facts(value, within="" if key in ("extensions", ORIGINAL) else name)
        elif isinstance(value, list):
            yield from ((one, url) for one, url in _named_links(value) if url.startswith(_LINK))
        elif isinstance(value, int | float) and not isinstance(value, bool) and key != "chainId":
            yield name, value
        elif isinstance(value, str) and _NUMBER.fullmatch(value):
            yield name, float(value)
        elif isinstance(value, str) and value.startswith(_LINK):
            yield name, value[:_LENGTH]


def _rows(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """One row for each value; those of `extensions` are next to the others."""
    for key, value in fields.items():
        if key == "extensions" and isinstance(value, Mapping):
            yield from _rows(value)
        elif key == ORIGINAL and isinstance(value, Mapping):
            yield "Original picture", _original(value)
        elif key == "chainId" and isinstance(value, int):
            yield "Chain", f"{_CHAINS[value]} ({value})" if value in _CHAINS else str(value)
        elif isinstance(value, list) and (named := list(_named_links(value))):
            yield from named
        else:
            yield label(key), _field_text(value)


def _original(value: Mapping[str, object]) -> str:
    """A picture as it was imported: "48 × 40 pixels, PNG, 1.2 kB"."""
    size = value.get("bytes")
    pixels = f"{value['width']} × {value['height']} pixels" if {"width", "height"} <= value.keys() else ""
    said = (pixels, str(value.get("format", "")), format.size(size) if isinstance(size, int) else "")
    return ", ".join(filter(None, said))


def _named_links(value: list[object]) -> Iterator[tuple[str, str]]:
    """Links as lists of coins have them: {"name" or "type" or "label": "x", "url": "https://…"}."""
    for one in value:
        if isinstance(one, Mapping) and isinstance(url := one.get("url"), str):
            name = next(
                (one[key] for key in ("name", "label", "type") if isinstance(one.get(key), str)), "Link"
            )
            yield label(name), url


def label(key: str) -> str:
    """A key as a label: "Mint authority" for `mintAuthority` and `mint_authority`."""
    if key in _LABELS:
        return _LABELS[key]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\s]+", " ", key[:60]).split()
    lower = [word if word.isupper() and len(word) > 1 else word.lower() for word in words]
    text = " ".join(lower)
    return text[:1].upper() + text[1:]


def _field_text(value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, int | float):
        return f"{value:,}"
    if isinstance(value, Mapping) and value and all(isinstance(one, int | float) for one in value.values()):
        return ", ".join(f"{key} {_field_text(one)}" for key, one in value.items())
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
