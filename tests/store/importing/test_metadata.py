"""Dates, tags and values of every type in sidecars and tables."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.errors import BadSource
from store.importing import uploaded
from store.importing.metadata import chain_id, sidecar_of, unix_seconds, unread, whole_number
from store.records import validate
from tests.store.importing.files import MINT, import_folder, import_uploads, png, sidecar, split_results

NOON = 1_714_564_800  # of 1 May 2024


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000, "nested"),
        (b"{", "not JSON"),
        (b"", "no coin in it"),
        (b"\xff\xfe\xfa", "UTF-8"),
        (b"\0\x80abc", "UTF-8"),
        (b'"text"', 'neither a coin nor a list of coins: a list is [{"name"'),
        (b'{"token_name": "a", "token_name": "b"}', "twice"),
        (json.dumps(sidecar(x=1)).replace("1}", "9" * 5000 + "}").encode(), "cannot be read"),
    ],
    ids=lambda value: repr(value[-24:]),
)
def test_a_side_file_that_cannot_be_read_is_named_and_does_not_cost_its_picture(tmp_path, content, reason):
    files = {"bad.json": content, "bad.png": png("blue"), "x.json": sidecar(), "x.png": png()}
    coins, refused = import_folder(tmp_path, files)
    assert [coin.sidecar["token_name"] for coin in coins] == ["Doge Coin", "bad"]
    assert list(refused) == ["in/bad.json"]
    assert reason in refused["in/bad.json"]
    library = {
        f"{tier}/{name}": content for name, content in files.items() for tier in ("pending", "approved")
    }
    coins, refused = import_folder(tmp_path / "library", library)
    assert {coin.sidecar["token_address"] for coin in coins} == {MINT}, "where each picture has its sidecar"


@pytest.mark.parametrize(
    ("sidecar", "reason"),
    [
        (sidecar(token_name="\ud800"), "it holds an unpaired surrogate (invalid Unicode)"),
        (sidecar(token_address="../../x"), "base58"),
        (sidecar(token_address=7), "base58"),
    ],
)
def test_a_coin_without_a_usable_name_or_address_is_refused(tmp_path, sidecar, reason):
    coins, refused = import_folder(tmp_path, {"bad.json": sidecar, "bad.png": png("blue")})
    assert coins == []
    assert reason in refused["in/bad.json"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"x": [float("nan"), 1]}, {"x": [None, 1]}),
        ({"x": float("inf")}, {}),
        ({"tags": [1, "dog"]}, {"tags": ["dog"], "tags_given": [1, "dog"]}),
        ({"tags": {"dog": 0.9, "cat": True, "bird": False}}, {"tags": ["dog", "cat"]}),
        ({"tags": {"general": ["dog"], "artist": ["bob"], "empty": []}}, {"tags": ["dog", "bob"]}),
        ({"tags": [{"names": ["dog", "hound"]}, {"name": "cat"}]}, {"tags": ["dog", "cat"]}),
        ({"tags": "1girl long_hair"}, {"tags": ["1girl", "long_hair"]}),
        ({"tags": 7}, {"tags": [], "tags_given": 7}),
        ({"ticker": 404}, {"ticker": "404"}),
        ({"ticker": ["A"]}, {"ticker_given": ["A"]}),
        ({"ticker": "X" * 65}, {"ticker_given": "X" * 65}),
        ({"description": {"en": "A dog", "de": "Ein Hund"}}, {"description": "A dog"}),
        ({"description": 7}, {"description_given": 7}),
        ({"caption": {"entity": 7, "context": "wow"}},
         {"caption": {"context": "wow"}, "caption_given": {"entity": 7, "context": "wow"}}),
        ({"caption": 7}, {"caption_given": 7}),
        ({"createdOn": "https://pump.fun"}, {"createdOn": "https://pump.fun"}),
    ],
    ids=repr,
)  # fmt: skip
def test_an_optional_field_never_costs_its_record(given: dict[str, object], read: dict[str, object]) -> None:
    found = sidecar_of({"name": "Frog", **given})
    assert found == {"token_name": "Frog", "description": "", **read}
    kept = {key.removesuffix("_given") for key in found if key.endswith("_given")}
    assert {sentence.split()[0] for sentence in unread(found)} == kept


def test_more_tags_than_fit_come_in_as_far_as_they_do(tmp_path: Path) -> None:
    names = [f"tag {number}" for number in range(300)]
    (coin,), refused = import_folder(tmp_path, {"x.png": png(), "x.txt": ", ".join(names)})
    assert not refused
    assert (coin.sidecar["tags"], coin.sidecar["tags_given"]) == (names[:64], names)
    validate({"created_at": 1, **coin.sidecar}, tier="pending")


def test_a_name_of_ten_megabytes_is_left_to_record_validation(tmp_path):
    name = "D" * 10_000_000
    files = {
        "x.json": sidecar(token_name=name),
        "x.png": png(),
        "list.csv": f"name,file\n{'E' * 200_000},x.png\n",
    }
    coins, refused = import_folder(tmp_path, files)
    assert not refused
    assert all(len(coin.item) <= 200 for coin in coins)
    for coin in coins:
        with pytest.raises(ValueError, match="characters"):
            validate({"created_at": 1, **coin.sidecar}, tier="pending")


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        (1_693_440_000, 1_693_440_000),
        (1_693_440_000.9, 1_693_440_000),
        (1_693_440_000_000, 1_693_440_000),
        (1_693_440_000_000_000, 1_693_440_000),
        ("1693440000", 1_693_440_000),
        ("2023-08-31", 1_693_440_000),
        ("2023-08-31T02:00:00+02:00", 1_693_440_000),
        ("2023-08-31T00:00:00Z", 1_693_440_000),
        (None, None),
        ("", None),
    ],
)
def test_dates_in_every_common_format_are_read(tmp_path, date, seconds):
    coins, refused = import_folder(tmp_path, {"x.json": sidecar(created_at=date), "x.png": png()})
    assert not refused
    assert coins[0].sidecar.get("created_at") == seconds


_NUMBER = "9" * 400


@pytest.mark.parametrize(
    "files",
    [
        {"far.json": json.dumps(sidecar(created_at=int(_NUMBER)))},
        {"far.json": json.dumps(sidecar(created_at=_NUMBER))},
        {"list.json": json.dumps({"tokens": [{**sidecar(created_at=int(_NUMBER)), "logoURI": "far.png"}]})},
        {"far.csv": f"name,ticker,created_at,file\nFar,FAR,{_NUMBER},far.png\n"},
        {"far.jsonl": json.dumps({**sidecar(created_at=int(_NUMBER)), "file": "far.png"}) + "\n"},
    ],
    ids=["sidecar", "sidecar, as text", "token list", "CSV", "JSON Lines"],
)
def test_a_date_of_400_digits_is_kept_as_it_is_and_the_coin_comes_in_without_one(
    tmp_path: Path, files: dict[str, str]
) -> None:
    given = {**{name: text.encode() for name, text in files.items()}, "far.png": png()}
    for (coin,), _ in (import_folder(tmp_path, given), split_results(uploaded(given.items()))):
        assert "created_at" not in coin.sidecar
        assert str(coin.sidecar["created_at_given"]) == _NUMBER
        assert "no date that can be read" in next(unread(coin.sidecar))


@pytest.mark.parametrize(
    ("fields", "seconds", "kept"),
    [
        ({"timestamp": 1_714_564_800}, 1_714_564_800, {}),
        ({"created_at": "", "timestamp": 1_714_564_800_000}, 1_714_564_800, {}),
        ({"created_at": 5, "timestamp": 6}, 5, {"timestamp": 6}),
        ({"created_at": "soon", "pairCreatedAt": 7}, 7, {"created_at_given": "soon"}),
        ({"launch_date": "soon"}, None, {"created_at_given": "soon", "launch_date": "soon"}),
        ({"created_at": 9, "created_at_is_import_time": True, "date": "1 May 2024"}, 1_714_521_600, {}),
        ({"created_at": 9, "created_at_is_import_time": True}, 9, {"created_at_is_import_time": True}),
        ({"created_at": "NaT"}, None, {}),
    ],
    ids=repr,
)
def test_a_date_under_another_key_counts_and_an_unreadable_one_is_kept(
    fields: dict[str, object], seconds: int | None, kept: dict[str, object]
) -> None:
    read = sidecar_of({"name": "Frog", **fields})
    assert read.pop("created_at", None) == seconds
    assert read == {"token_name": "Frog", "description": "", **kept}


@pytest.mark.parametrize(
    ("fields", "read"),
    [
        ({"decimals": "9"}, {"decimals": 9}),
        ({"Decimals": " 6 "}, {"decimals": 6}),
        ({"token_decimals": 8.0, "chain_id": "0x38"}, {"token_decimals": 8.0, "decimals": 8, "chainId": 56}),
        ({"chainId": "solana"}, {"chainId": 101}),
        ({"network": "bsc"}, {"network": "bsc", "chainId": 56}),
        ({"network": "mine"}, {"network": "mine"}),
        ({"decimals": "nine", "chainId": "mine"}, {"decimals": "nine", "chainId": "mine"}),
    ],
    ids=repr,
)
def test_decimals_and_chains_are_numbers_in_every_spelling(
    fields: dict[str, object], read: dict[str, object]
) -> None:
    found = sidecar_of({"name": "Frog", **fields})
    assert found == {"token_name": "Frog", "description": "", **read}
    named = [key for key in ("decimals", "chainId") if isinstance(found.get(key), str)]
    assert [sentence.split()[0] for sentence in unread(found)] == named


def test_a_missing_number_costs_neither_its_row_nor_the_others(tmp_path: Path) -> None:
    rows = [{"file": "x.png", "name": "Frog", "market_cap": float("nan")}, {"file": "y.png", "name": "Dog"}]
    files = {"list.json": json.dumps(rows).encode(), "x.png": png(), "y.png": png("blue")}
    coins, refused = import_folder(tmp_path, files)
    assert not refused
    assert [(coin.sidecar["token_name"], "market_cap" in coin.sidecar) for coin in coins] == [
        ("Frog", False),
        ("Dog", False),
    ]


def test_tags_are_split_trimmed_and_deduplicated(tmp_path):
    coins, _ = import_folder(tmp_path, {"x.json": sidecar(tags=["a,b", " a ", "", "c\nd"]), "x.png": png()})
    assert coins[0].sidecar["tags"] == ["a", "b", "c d"]


FIELDS = (
    *("token_name", "name", "ticker", "description", "token_address", "address", "created_at", "tags"),
    *("caption", "extensions", "tags_categories", "image", "logoURI", "tokens", "more", "entity"),
)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    fields=st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)),
    shape=st.sampled_from(["sidecar", "list", "token list", "lines"]),
)
def test_values_of_any_type_give_a_coin_or_a_reason(fields, shape):
    text = json.dumps(
        {"sidecar": fields, "list": [fields], "token list": {"tokens": [fields]}}.get(shape, fields)
    )
    name = "x.jsonl" if shape == "lines" else "x.json"
    coins, refused = import_uploads({name: text.encode(), "x.png": png()})
    assert coins or refused
    assert all(reason for reason in refused.values())


@pytest.mark.parametrize(
    "date",
    [
        *(NOON, NOON * 1000, NOON * 10**6, NOON * 10**9, float(NOON), f"{NOON}", f"{NOON}.0", "1.7145648E9"),
        *("2024-05-01T12:00:00Z", "2024-05-01 12:00:00 UTC", "2024-05-01 14:00:00 +0200", "2024/05/01 12:00"),
        *("2024-05-01T12:00:00.123456789Z", "2024-05-01 12:00:00 +0000 UTC", "1 May 2024 12:00"),
        *("Wed, 01 May 2024 12:00:00 GMT", "Wed May  1 12:00:00 2024", "May 1, 2024 12:00:00"),
        *("May 1, 2024, 12:00:00 PM", "2024.5.1 12:00", "Wed May 01 12:00:00 +0000 2024"),
    ],
)
def test_a_date_with_one_reading_is_read(date: object) -> None:
    assert unix_seconds(date) == NOON


def test_a_day_written_as_eight_digits_is_no_second_of_1970() -> None:
    assert unix_seconds(20240501) == unix_seconds("20240501") == NOON - 12 * 3600


@pytest.mark.parametrize("nothing", [None, "", " ", "NaT", "nan", "null", "N/A", "-", float("nan")])
def test_a_word_for_nothing_is_no_date(nothing: object) -> None:
    assert unix_seconds(nothing) is None


@pytest.mark.parametrize(
    "date",
    [
        "01.05.2024", "2024年5月1日", "5/5/2024", "13/5/2024", "5/13/2024", "05/13/2024 00:00",
        "Wed May 01 00:00:00 UTC 2024", "Wed May 01 00:00:00 +0000 2024", "2024.05.01", "13-05-2024",
        "24.05.01",
        "May 1st 2024", "5/13/2024, 12:00:00 AM", "1. Mai 2024", "1 de mayo de 2024", "1er mai 2024",
        45413, "45413", "45413.0",
    ],
)  # fmt: skip
def test_a_date_as_spreadsheets_and_people_write_it_is_read(date: object) -> None:
    days = 4 if date == "5/5/2024" else 12 if "13" in str(date).replace("45413", "") else 0
    assert unix_seconds(date) == 1_714_521_600 + 86_400 * days


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234,567.5", 1_234_567.5), ("$5,123.20", 5_123.2), ("$12", 12), ("1,234,567", 1_234_567),
        ("1.234,5", 1_234.5), ("1 234 567", 1_234_567), ("1'234.50", 1_234.5), ("€1,50", 1.5),
        ("$1.2M", 1_200_000), ("12 €", 12), ("1 234", "1 234"), ("1.234", "1.234"), ("€1.234", "€1.234"),
        ("4K", "4K"), ("192.168.100.200", "192.168.100.200"),
        ("1,234", "1,234"), ("a frog", "a frog"), ("12,34,5", "12,34,5"), ("5123.2", "5123.2"),
    ],
)  # fmt: skip
def test_a_number_with_thousands_is_kept_as_a_number(text: str, number: object) -> None:
    assert sidecar_of({"name": "Frog", "volume": text})["volume"] == number


@pytest.mark.parametrize(
    "date",
    [
        "05/01/2024 12:00",
        "5/1/24",
        "31/12/24",
        "13.5.24",
        "soon",
        2024,
        "2024",
        "01-02-2024",
        -5,
        True,
        [],
        {},
        10**400,
        "9" * 400,
        1e308,
        float("inf"),
        "2024-13-01",
        "1e400",
    ],
)
def test_a_date_with_two_readings_or_none_is_named(date: object) -> None:
    with pytest.raises(BadSource, match="no date that can be read"):
        unix_seconds(date)


@pytest.mark.parametrize("nine", [9, 9.0, "9", "9.0", "9,0", " 9 ", "09", "+9", "0x9", "9.", "'9"])
def test_a_whole_number_is_read_in_every_spelling(nine: object) -> None:
    assert whole_number(nine, least=0, most=255) == 9


@pytest.mark.parametrize(
    "other", [None, "", "nine", 9.5, "9,5", -1, 256, True, "1e999999", float("inf"), [9]]
)
def test_anything_else_is_no_whole_number(other: object) -> None:
    assert whole_number(other, least=0, most=255) is None


@pytest.mark.parametrize("chain", [56, 56.0, "56", "0x38", "bsc", "BNB", "Binance Smart Chain", "eip155:56"])
def test_a_chain_is_known_by_number_and_name(chain: object) -> None:
    assert chain_id(chain) == 56


@pytest.mark.parametrize("other", [None, "", "mine", 0, -1, True, "eip155:"])
def test_another_word_is_no_chain(other: object) -> None:
    assert chain_id(other) is None
