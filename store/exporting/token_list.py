"""A Token List as tokenlists.org defines it: its schema's limits, and the rule for its version.

The schema is that of @uniswap/token-lists 1.0.0-beta.35: a name of 60 characters, a ticker of 20 without
spaces, each in any script.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from store.errors import BadSource
from store.importing.metadata import MAX_DECIMALS, chain_id, is_empty, whole_number
from store.records import Record, bare_address, chains_of, is_evm, is_made_up

FILE = "tokenlist.json"
MAX_TOKENS = 10_000
_MAX_NAME, _MAX_SYMBOL, _MAX_TAG = 60, 20, 10
_MAX_TAGS, _MAX_TAGS_OF_ONE = 20, 10
_MAX_EXTENSIONS, _MAX_EXTENSION = 10, 42
_ETHEREUM, _SOLANA = 1, 101  # chain ids; the latter is the one of Solana's own registry
_NOT_IN_WORD = re.compile(r"\W", re.ASCII)
_LOGO = ("https://", "http://", "ipfs://")

_Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class ListVersion:
    """A list's version; 1.0.0 is the first."""

    major: int = 1
    minor: int = 0
    patch: int = 0

    def after(self, before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> "ListVersion":
        """The version of a list with the tokens `now` if this is that of one with the tokens `before`.

        A removed token raises the major number, an added one the minor, any other change the patch; the same
        tokens have the same version.
        """
        old, new = _by_key(before), _by_key(now)
        if old.keys() - new.keys():
            return ListVersion(self.major + 1, 0, 0)
        if new.keys() - old.keys():
            return ListVersion(self.major, self.minor + 1, 0)
        if old != new:
            return ListVersion(self.major, self.minor, self.patch + 1)
        return self


def token_list(
    records: Iterable[Record], *, name: str = "Memedex", previous: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The list of these records, which `check_token` has allowed. Raises BadSource for none or too many."""
    chosen = list(records)
    if not 0 < len(chosen) <= MAX_TOKENS:
        raise BadSource(f"a token list has 1 to {MAX_TOKENS:,} tokens, not {len(chosen):,}")
    counts = Counter(tag for record in chosen for tag in record.tags if _identifier(tag))
    ids: dict[str, str] = {}
    for tag, _ in counts.most_common():
        if len(set(ids.values())) < _MAX_TAGS:
            ids[tag] = _identifier(tag)
    tokens = [_token(record, ids) for record in chosen]
    version = _version(previous, tokens)
    made: dict[str, Any] = {
        "name": name,
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": {"major": version.major, "minor": version.minor, "patch": version.patch},
        "tokens": tokens,
    }
    if ids:
        names = {id: tag for tag, id in reversed(ids.items())}
        made["tags"] = {
            id: {"name": _word(tag)[:20], "description": f"Coins with the tag {_word(tag)}"[:200]}
            for id, tag in sorted(names.items())
        }
    return made


def check_token(record: Record) -> None:
    """Raises BadSource for a coin that no token list can name."""
    if is_made_up(record.address):
        raise BadSource("it has no address on a chain, which a token list needs")
    chains = chains_of(record.address)
    if not is_evm(record.address) and chains != "Solana":
        raise BadSource(f"its address is one of {chains}, for which a token list has no place")
    chain = record.sidecar.get("chainId")
    if not is_empty(chain) and chain_id(chain) is None:
        raise BadSource(f"its chainId {chain!r} is no chain's number, which a token list needs")


def _version(previous: Mapping[str, Any] | None, tokens: Sequence[Mapping[str, Any]]) -> ListVersion:
    if previous is None:
        return ListVersion()
    try:
        numbers = previous["version"]
        before = ListVersion(*(int(numbers[part]) for part in ("major", "minor", "patch")))
        return before.after(previous["tokens"], tokens)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadSource(f"the earlier list has no version or tokens that can be read: {error}") from error


def _token(record: Record, ids: Mapping[str, str]) -> dict[str, Any]:
    sidecar = record.sidecar
    chain = chain_id(sidecar.get("chainId"))
    decimals = whole_number(sidecar.get("decimals"), least=0, most=MAX_DECIMALS)
    extensions = sidecar.get("extensions")
    kept = {
        key: value
        for key, value in (extensions if isinstance(extensions, dict) else {}).items()
        if not _NOT_IN_WORD.search(key) and 0 < len(key) <= 40 and _is_plain(value)
    }
    if decimals is None:
        decimals, kept = 0, {"decimalsUnknown": True, **kept}
    token: dict[str, Any] = {
        "chainId": chain or (_ETHEREUM if is_evm(record.address) else _SOLANA),
        "address": bare_address(record.address),
        "decimals": decimals,
        "name": " ".join(record.name.split())[:_MAX_NAME].strip(),
        "symbol": "".join(record.ticker.split())[:_MAX_SYMBOL],
    }
    logo = sidecar.get("logoURI")
    if isinstance(logo, str) and logo.startswith(_LOGO) and " " not in logo:
        token["logoURI"] = logo
    if tags := list(dict.fromkeys(ids[tag] for tag in record.tags if tag in ids))[:_MAX_TAGS_OF_ONE]:
        token["tags"] = tags
    if kept:
        token["extensions"] = dict([*kept.items()][:_MAX_EXTENSIONS])
    return token


def _by_key(tokens: Sequence[Mapping[str, Any]]) -> dict[_Key, Mapping[str, Any]]:
    return {(int(token["chainId"]), str(token["address"]).lower()): token for token in tokens}


def _identifier(tag: str) -> str:
    return _NOT_IN_WORD.sub("", tag)[:_MAX_TAG]


def _word(tag: str) -> str:
    return " ".join(_NOT_IN_WORD.sub(" ", tag).split())


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _MAX_EXTENSION
    return value is None or isinstance(value, bool | int | float)
