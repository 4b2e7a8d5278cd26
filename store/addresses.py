"""The addresses of coins: one entry for each kind of chain, with the one spelling that is the coin's key.

Two spellings of one account are one key: TON's three forms, Move's with and without leading zeros.
"""

import base64
import binascii
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"  # no 0, O, I, l
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)  # of BIP-173's checksum
_BECH32_ENDS = (1, 0x2BC830A3)  # what the checksum comes to: bech32, bech32m
_TON_BOUNCES, _TON_NOT, _TON_TEST = 0x11, 0x51, 0x80


@dataclass(frozen=True, slots=True)
class Form:
    """How the addresses of some chains are spelled."""

    chains: str
    pattern: str
    key: Callable[[str], str | None] = lambda text: (
        text
    )  # its spelling as a key; None if it is wrong after all


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
