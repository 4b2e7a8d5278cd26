"""A Token List keeps the standard's limits, and its version follows the standard's rule."""

import json

import pytest

from store.errors import BadSource
from store.exporting import export
from store.exporting.token_list import ListVersion, check_token, token_list
from store.importing import Candidate, candidates
from store.records import Record

EVM = "0x" + "ab" * 20
MINT = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"


def record(address: str = EVM, **changes: object) -> Record:
    sidecar = {
        "token_name": "Doge “Coin”  with a name that is a little longer than sixty signs",
        "ticker": "DO GE/é",
        "description": "",
        "token_address": address,
        "created_at": 1,
        "tags": ["dog", "a tag with spaces", "🚀"],
        "decimals": 18,
        "extensions": {"website": "https://example.org/", "too-long": "x" * 50, "x" * 41: 1},
        **changes,
    }
    return Record(sidecar, "library")


def test_a_token_keeps_the_limits_of_the_schema() -> None:
    made = token_list([record(), record("0x" + "cd" * 20, logoURI="https://e.org/a.png", decimals=300)])
    first, second = made["tokens"]
    assert first["name"] == "Doge “Coin” with a name that is a little longer than sixty s"
    assert first["symbol"] == "DOGE/é"
    assert first["tags"] == ["dog", "atagwithsp"]
    assert made["tags"]["atagwithsp"]["name"] == "a tag with spaces"
    assert first["extensions"] == {"website": "https://example.org/"}
    assert (second["decimals"], second["extensions"]["decimalsUnknown"]) == (0, True)
    assert second["logoURI"] == "https://e.org/a.png"
    assert {*first} <= {"chainId", "address", "decimals", "name", "symbol", "logoURI", "tags", "extensions"}
    assert made["version"] == {"major": 1, "minor": 0, "patch": 0}


@pytest.mark.parametrize("ticker", ["狗币", "🚀", "مرحبا", "CAFÉ", "C++", ""])
def test_a_ticker_leaves_as_it_is(ticker: str) -> None:
    check_token(record(ticker=ticker))
    [token] = token_list([record(ticker=ticker)])["tokens"]
    assert token["symbol"] == ticker


def test_the_version_rises_by_what_changed() -> None:
    one, other = ({"chainId": 1, "address": letter * 42, "name": letter} for letter in "ab")
    assert ListVersion(1, 2, 3).after([one, other], [one]) == ListVersion(2, 0, 0)
    assert ListVersion(1, 2, 3).after([one], [one, other]) == ListVersion(1, 3, 0)
    assert ListVersion(1, 2, 3).after([one], [{**one, "name": "new"}]) == ListVersion(1, 2, 4)
    assert ListVersion(1, 2, 3).after([one], [one]) == ListVersion(1, 2, 3)
    assert ListVersion(1, 2, 3).after([one], [other]) == ListVersion(2, 0, 0)


def test_a_coin_without_an_address_on_a_chain_is_refused() -> None:
    with pytest.raises(BadSource, match="no address on a chain"):
        check_token(record("local-abc"))


def test_an_exported_list_is_imported_again(tmp_path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    wanted = [record(MINT), record("local-abc")]
    done = export(wanted, lambda _: tmp_path / "a.jpg", destination=tmp_path / "out", format="tokenlist")
    assert [refusal.item for refusal in done.refused] == ["local-abc"]
    made = json.loads((tmp_path / "out" / "tokenlist.json").read_text())
    assert made["tokens"][0]["chainId"] == 101
    (coin,) = candidates([tmp_path / "out"])
    assert isinstance(coin, Candidate)
    assert coin.sidecar["token_address"] == MINT
    assert coin.sidecar["tags"] == ["dog", "atagwithsp"]


@pytest.mark.parametrize(
    ("fields", "number"),
    [({"decimals": "9"}, 9), ({"decimals": " 6 "}, 6), ({"decimals": "8.0"}, 8), ({"decimals": 9.0}, 9)],
)
def test_decimals_that_an_earlier_version_stored_as_text_leave_as_a_number(
    fields: dict[str, object], number: int
) -> None:
    (token,) = token_list([record(**fields)])["tokens"]
    assert token["decimals"] == number
    assert "decimalsUnknown" not in token["extensions"]


def test_a_chain_leaves_as_its_number_and_an_unknown_one_is_refused() -> None:
    chains = [{"chainId": "56"}, {"chainId": "bsc"}, {}]
    assert [token_list([record(**fields)])["tokens"][0]["chainId"] for fields in chains] == [56, 56, 1]
    with pytest.raises(BadSource, match="its chainId 'mine' is no chain's number"):
        check_token(record(chainId="mine"))
