"""A record: its key, fields and caption, and their rules."""

import base64
import binascii
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

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
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"  # no 0, O, I, l
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)  # of BIP-173's checksum
_BECH32_ENDS = (1, 0x2BC830A3)  # what the checksum comes to: bech32, bech32m
_TON_BOUNCES, _TON_NOT, _TON_TEST = 0x11, 0x51, 0x80


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


@dataclass(frozen=True, slots=True)
class Form:
    """How the addresses of some chains are spelled."""

    chains: str
    pattern: str
    # Its spelling as a key; None if it is wrong after all.
    key: Callable[[str], str | None] = lambda text: text


def spelling(text: str) -> tuple[str, str] | None:
    """The chains whose address this text is, and its one spelling, safe as a file's name; None for none."""
    for form in FORMS:
        if re.fullmatch(form.pattern, text) and (key := form.key(text)):
            return form.chains, key
    return None


def bytes_of_base58(text: str) -> int:
    """How many bytes a text in base58 makes."""
    value = 0
    for sign in text:
        value = value * 58 + BASE58.index(sign)
    return (value.bit_length() + 7) // 8 + len(text) - len(text.lstrip("1"))


def _tron(text: str) -> str | None:
    value = 0
    for sign in text:
        value = value * 58 + BASE58.index(sign)
    content = value.to_bytes(26)[1:] if value < 1 << 200 else b""
    return text if sha256(sha256(content[:-4]).digest()).digest()[:4] == content[-4:] else None


def _ton(text: str) -> str | None:
    """Of an account in any form the one for contracts, in URLs' letters: EQ…"""
    if ":" in text:
        chain, _, account = text.partition(":")
        content = bytes([_TON_BOUNCES, int(chain) & 0xFF]) + bytes.fromhex(account)
    else:
        whole = base64.b64decode(text, altchars=b"-_" if {*"-_"} & {*text} else None)
        content, check = whole[:-2], whole[-2:]
        if binascii.crc_hqx(content, 0).to_bytes(2) != check or content[0] & ~_TON_TEST not in (
            _TON_BOUNCES,
            _TON_NOT,
        ):
            return None
        content = bytes([_TON_BOUNCES | content[0] & _TON_TEST]) + content[1:]
    return base64.urlsafe_b64encode(content + binascii.crc_hqx(content, 0).to_bytes(2)).decode()


def _move(text: str) -> str | None:
    account, *names = text.split("::")
    if names and os.name == "nt":  # no file there may have a colon in its name
        return None
    return "::".join([f"0x{account[2:].lower():0>64}", *names])


def _cosmos(text: str) -> str | None:
    """Checked by BIP-173's sum."""
    name, _, data = text.rpartition("1")
    values = [ord(sign) >> 5 for sign in name] + [0] + [ord(sign) & 31 for sign in name]
    check = 1
    for value in values + [_BECH32.index(sign) for sign in data]:
        top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
        for place, step in enumerate(_STEPS):
            check ^= step if top >> place & 1 else 0
    return text if check in _BECH32_ENDS else None


FORMS = (
    Form("Ethereum and its like", r"0[xX][0-9a-fA-F]{40}", str.lower),
    Form("Tron", rf"T[{BASE58}]{{33}}", _tron),
    Form("Cosmos and its like", rf"[a-z][a-z0-9]{{1,15}}1[{_BECH32}]{{38,59}}", _cosmos),
    Form("Solana", rf"[{BASE58}]{{32,44}}"),
    Form("TON", r"[EUk0][A-Za-z0-9_+/-]{47}|(?:0|-1):[0-9a-fA-F]{64}", _ton),
    Form("Sui and Aptos", r"0x[0-9a-fA-F]{1,64}(?:::[A-Za-z_]\w{0,63}){2}", _move),
    Form("Aptos and Starknet", r"0x[0-9a-fA-F]{50,64}", _move),
    Form("NEAR", r"[a-z0-9][a-z0-9_-]{0,40}(?:\.[a-z0-9_-]{1,40}){0,3}\.near"),
)
