"""A record: its key, fields and caption, and their rules."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

from store.addresses import spelling
from store.errors import InvalidRecord

Tier = Literal["pending", "approved", "library", "trash"]
Facet = Literal["image", "entity", "context", "visual", "emotions"]

TIERS: tuple[Tier, ...] = get_args(Tier)
FACETS: tuple[Facet, ...] = get_args(Facet)
CAPTION_FACETS: tuple[Facet, ...] = FACETS[1:]
REQUIRED_FACETS: tuple[Facet, ...] = ("entity", "context")
REQUIRED_KEYS = ("token_name", "ticker", "description", "token_address", "created_at")

# Far above anything real; they protect pages, file systems and models from 10 MB names.
MAX_NAME = 256
MAX_TICKER = 64
MAX_DESCRIPTION = 20_000
MAX_FACET = 20_000
MAX_TAG = 64
MAX_TAGS = 64
MAX_SIDECAR_BYTES = 1_000_000

UNFIT = "unfit"  # the key for a person's verdict on whether it is unfit for the screen: true or false
PICTURE_TEXT = "picture_text"  # the sidecar's key for a person's correction of the picture's text
COMMENTS = "review_comments"  # … for what people say of the coin: a list of who, at (UNIX seconds) and text
ORIGINAL = "original_picture"  # … for the bytes, format and pixels of the picture that was imported

_EVM = re.compile(r"0[xX][0-9a-fA-F]{40}")
_CHAIN = re.compile(r"(.+)@([1-9][0-9]{0,9})")  # an address that a library has on another chain, too
_MADE_UP = re.compile(r"local-[0-9a-z]+(?:-[0-9a-z]+)*")


@dataclass(frozen=True, slots=True)
class Record:
    """One memecoin in the catalog; `sidecar` is its whole JSON, unknown keys included."""

    sidecar: Mapping[str, Any]
    tier: Tier
    revision: int = 0
    image_hash: str = ""
    came_from: Tier | None = None  # for a record in the trash: where restore takes it

    @property
    def address(self) -> str:
        """The token address, by which the record is known everywhere."""
        return str(self.sidecar["token_address"])

    @property
    def name(self) -> str:
        """The token name, as the sidecar has it."""
        return str(self.sidecar["token_name"])

    @property
    def ticker(self) -> str:
        """The ticker, as the sidecar has it."""
        return str(self.sidecar["ticker"])

    @property
    def description(self) -> str:
        """The description, as the sidecar has it."""
        return str(self.sidecar["description"])

    @property
    def created_at(self) -> int:
        """Creation time in UNIX seconds."""
        return int(self.sidecar["created_at"])

    @property
    def tags(self) -> list[str]:
        """The tags, in their order."""
        return list(self.sidecar.get("tags", ()))

    @property
    def categories(self) -> list[str]:
        """The categories of the tags."""
        return list(self.sidecar.get("tags_categories", ()))

    @property
    def caption(self) -> dict[Facet, str]:
        """The text facets written so far. A missing one is not written yet.

        "" means left empty on purpose.
        """
        caption = self.sidecar.get("caption") or {}
        return {facet: caption[facet] for facet in CAPTION_FACETS if facet in caption}

    @property
    def picture_text(self) -> str | None:
        """A person's correction of the text in the picture, "" for none; None without a correction."""
        text = self.sidecar.get(PICTURE_TEXT)
        return text if isinstance(text, str) else None

    @property
    def comments(self) -> list[dict[str, Any]]:
        """What people said of the coin, oldest first: `who`, `at` (UNIX seconds) and `text` of each."""
        said = self.sidecar.get(COMMENTS)
        return [one for one in said if _is_comment(one)] if isinstance(said, list) else []

    @property
    def is_captioned(self) -> bool:
        """Whether all facets that promotion needs are written."""
        return all(self.caption.get(facet, "").strip() for facet in REQUIRED_FACETS)

    def as_json(self) -> dict[str, Any]:
        """The sidecar's keys plus `tier`; scripts rely on these names."""
        return {**self.sidecar, "tier": self.tier}


def _is_comment(one: object) -> bool:
    """Whether it is one: a sidecar may come from anywhere."""
    return (
        isinstance(one, dict)
        and isinstance(one.get("who"), str)
        and isinstance(one.get("text"), str)
        and isinstance(one.get("at"), int | float)
    )


def checked_address(address: object) -> str:
    """The address in its canonical spelling, safe as a file name. Raises InvalidRecord for anything else."""
    text = address.strip() if isinstance(address, str) else ""
    if (parts := _CHAIN.fullmatch(text)) and not is_made_up(parts[1]):
        return f"{checked_address(parts[1])}@{parts[2]}"
    if _MADE_UP.fullmatch(text) and len(text) <= 64:
        return text
    if (found := spelling(text)) is not None:
        return found[1]
    raise InvalidRecord(
        f"token address {_short(address)} is neither base58 of 32 to 44 characters (Solana), 0x with 40 "
        "hex digits (EVM), nor an address of Tron, TON, Sui, Aptos, Starknet, Cosmos or NEAR"
    )


def as_stored(address: str) -> str:
    """The spelling in which an address is stored; a text that is none is unchanged."""
    try:
        return checked_address(address)
    except InvalidRecord:
        return address


def chains_of(address: str) -> str:
    """The kind of chain that an address is of, for people; "" for a made-up one."""
    found = spelling(bare_address(address))
    return found[0] if found else ""


def made_up_address(content: bytes) -> str:
    """A key for a picture without an address; the same picture always gets the same key."""
    return f"local-{sha256(content).hexdigest()[:32]}"


def on_chain(address: str, chain: int) -> str:
    """The key of a coin whose address is that of a coin on another chain."""
    return f"{address}@{chain}"


def bare_address(address: str) -> str:
    """The address without the chain that a key may name."""
    return address.partition("@")[0]


def is_evm(address: str) -> bool:
    """Whether it is an Ethereum address, in which case carries no meaning."""
    return _EVM.fullmatch(bare_address(address)) is not None


def is_made_up(address: str) -> bool:
    """Whether Memedex made this address for a coin that had none."""
    return address.startswith("local-")


def validate(sidecar: Mapping[str, Any], *, tier: Tier) -> None:
    """Raises InvalidRecord, naming every fault, unless the sidecar is valid for this tier."""
    faults = [f"{key} is missing" for key in REQUIRED_KEYS if key not in sidecar]
    if not faults:
        faults = [*_text_faults(sidecar), *_tag_faults(sidecar), *_caption_faults(sidecar, tier)]
        checked = checked_address(sidecar["token_address"])
        if checked != sidecar["token_address"]:
            faults.append(f"token_address must be written {checked}")
        created = sidecar["created_at"]
        if isinstance(created, bool) or not isinstance(created, int) or not 0 <= created < 2**53:
            faults.append("created_at must be UNIX seconds as an integer")
    if faults:
        raise InvalidRecord("; ".join(faults))
    if len(sidecar_bytes(sidecar)) > MAX_SIDECAR_BYTES:
        raise InvalidRecord(f"the metadata is larger than {MAX_SIDECAR_BYTES:,} bytes")


def sidecar_bytes(sidecar: Mapping[str, Any]) -> bytes:
    """The sidecar as it is written to disk. Raises InvalidRecord if it is not JSON."""
    try:
        text = json.dumps(sidecar, ensure_ascii=False, indent=2, allow_nan=False)
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:  # NaN, lone surrogates, endless nesting
        cause = (
            "it holds an unpaired surrogate (invalid Unicode)" if isinstance(error, UnicodeError) else error
        )
        raise InvalidRecord(f"the metadata cannot be written as JSON: {cause}") from error


def chroma_metadata(record: Record) -> dict[str, str | int]:
    """The six fields that Chroma stores, always all six."""
    return {
        "name": record.name,
        "ticker": record.ticker,
        "uuid": record.address,
        "tags": ",".join(record.tags),
        "tags_categories": ",".join(record.categories),
        "created_at": record.created_at,
    }


def _text_faults(sidecar: Mapping[str, Any]) -> list[str]:
    faults = []
    limits = {"token_name": MAX_NAME, "ticker": MAX_TICKER, "description": MAX_DESCRIPTION}
    for key, limit in limits.items():
        value = sidecar[key]
        if not isinstance(value, str):
            faults.append(f"{key} must be text")
        elif len(value) > limit:
            faults.append(f"{key} has {len(value):,} characters, at most {limit:,} are allowed")
        elif key == "token_name" and not value.strip():
            faults.append("token_name is empty")
    return faults


def _tag_faults(sidecar: Mapping[str, Any]) -> list[str]:
    faults = []
    for key in ("tags", "tags_categories"):
        tags = sidecar.get(key, [])
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            faults.append(f"{key} must be a list of texts")
        elif len(tags) > MAX_TAGS:
            faults.append(f"{key} has {len(tags):,} entries, at most {MAX_TAGS} may stand")
        else:
            faults += [
                f"tag {_short(tag)} is empty, too long or holds a comma"
                for tag in tags
                if (not tag.strip() or len(tag) > MAX_TAG or "," in tag)
            ]
    return faults


def _caption_faults(sidecar: Mapping[str, Any], tier: Tier) -> list[str]:
    if "caption" not in sidecar:
        return ["caption is missing"] if tier == "library" else []
    caption = sidecar["caption"]
    if not isinstance(caption, dict):
        return ["caption must be an object with entity, context, visual and emotions"]
    faults = []
    for facet in CAPTION_FACETS:
        text = caption.get(facet, "")
        if not isinstance(text, str):
            faults.append(f"caption.{facet} must be text")
        elif len(text) > MAX_FACET:
            faults.append(f"caption.{facet} has {len(text):,} characters, at most {MAX_FACET:,} are allowed")
        elif tier == "library" and facet in REQUIRED_FACETS and not text.strip():
            faults.append(f"caption.{facet} is empty")
    return faults


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
