"""Addresses of other chains than Solana's and Ethereum's: one key for an account, however it is spelled."""

from pathlib import Path

import pytest

from store.errors import BadSource, InvalidRecord
from store.exporting.token_list import check_token
from store.importing import Candidate, candidates
from store.records import Record, chains_of, checked_address
from tests.store.importing.files import png

EQ = "EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs"
RAW = "0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe"
TRON = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
COSMOS = "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"  # of BIP-173
ACCOUNT = "0x" + "0" * 63 + "2"


@pytest.mark.parametrize(
    ("spellings", "key", "chains"),
    [
        ([EQ, "UQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_p0p", RAW, EQ.replace("_", "/")], EQ, "TON"),
        ([TRON], TRON, "Tron"),
        (["0x2::sui::SUI", f"{ACCOUNT}::sui::SUI"], f"{ACCOUNT}::sui::SUI", "Sui and Aptos"),
        (["0xA" + "b" * 62, "0x0a" + "b" * 62], "0x0a" + "b" * 62, "Aptos and Starknet"),
        ([COSMOS], COSMOS, "Cosmos and its like"),
        (["token.sweat.near"], "token.sweat.near", "NEAR"),
    ],
)
def test_an_account_has_one_key(spellings: list[str], key: str, chains: str) -> None:
    assert [checked_address(one) for one in spellings] == [key] * len(spellings)
    assert (chains_of(key), chains_of(f"{key}@56")) == (chains, chains)


@pytest.mark.parametrize(
    "text", [EQ[:-1] + "t", COSMOS[:-1] + "q", "0x2::sui", "0x2::a/b::C", "0x12", "near", "a/b.near", "0:12"]
)
def test_what_has_a_wrong_checksum_or_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidRecord, match=r"nor an address of Tron, TON, Sui"):
        checked_address(text)


def test_their_coins_come_in_and_leave_in_no_token_list(tmp_path: Path) -> None:
    for name, colour in (("frog.png", "green"), ("dog.png", "red")):
        (tmp_path / name).write_bytes(png(colour))
    (tmp_path / "coins.csv").write_text(
        f"name,address,chain,image\nFrog,{RAW},ton,frog.png\nDog,0x2::dog::DOG,sui,dog.png\n"
    )
    found = [one for one in candidates([tmp_path]) if isinstance(one, Candidate)]
    assert {one.sidecar["token_address"] for one in found} == {EQ, f"{ACCOUNT}::dog::DOG"}
    for one in found:
        with pytest.raises(BadSource, match="for which a token list has no place"):
            check_token(Record(one.sidecar, "pending"))
