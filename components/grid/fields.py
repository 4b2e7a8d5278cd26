"""What a coin's sidecar says beyond the schema, in the words of people instead of the keys of files."""

import json
import re
from collections.abc import Iterator, Mapping

from components.shell import format
from store import Record
from store.records import PICTURE_TEXT, REQUIRED_KEYS, UNFIT

NO_AGE = "created_at_is_import_time"  # the record came without a time of its own
_OWN_KEYS = frozenset((*REQUIRED_KEYS, "tags", "tags_categories", "caption", PICTURE_TEXT, UNFIT, NO_AGE))
_MOST = 12  # fields that the large view shows, each up to …
_LENGTH = 400  # characters
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


def created(record: Record, form: str = "%-d %b %Y, %H:%M UTC") -> str:
    """When the coin was created, or imported if it came without a time of its own."""
    word = "Imported" if record.sidecar.get(NO_AGE) else "Created"
    return f"{word} {format.moment(record.created_at, form)}"


def shown_fields(record: Record) -> list[tuple[str, str]]:
    """The categories, and fields of the sidecar beyond the schema, each with its label."""
    categories = [("Categories", ", ".join(record.categories))] if record.categories else []
    others = {key: value for key, value in record.sidecar.items() if key not in _OWN_KEYS}
    return categories + [(label, text[:_LENGTH]) for label, text in list(_rows(others))[:_MOST] if text]


def _rows(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """One row for each value; those of `extensions` are next to the others."""
    for key, value in fields.items():
        if key == "extensions" and isinstance(value, Mapping):
            yield from _rows(value)
        elif key == "chainId" and isinstance(value, int):
            yield "Chain", f"{_CHAINS[value]} ({value})" if value in _CHAINS else str(value)
        else:
            yield label(key), _text(value)


def label(key: str) -> str:
    """A key as a label: "Mint authority" for `mintAuthority` and `mint_authority`."""
    if key in _LABELS:
        return _LABELS[key]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\s]+", " ", key[:60]).split()
    lower = [word if word.isupper() and len(word) > 1 else word.lower() for word in words]
    text = " ".join(lower)
    return text[:1].upper() + text[1:]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
