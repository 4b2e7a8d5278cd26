"""Dates, tags and values of every type in sidecars and tables."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.importing import uploaded
from store.records import validate
from tests.store.importing.files import MINT, import_folder, import_uploads, png, sidecar, split_results


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000, "nested"),
        (b"{", "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe\xfa", "UTF-8"),
        (b"\x80abc", "UTF-8"),
        (b'"text"', "neither"),
        (b'{"token_name": NaN}', "NaN"),
        (b'{"token_name": "a", "token_name": "b"}', "twice"),
        (json.dumps(sidecar(x=1)).replace("1}", "1e999}").encode(), "cannot be written"),
        (json.dumps(sidecar(x=1)).replace("1}", "9" * 5000 + "}").encode(), "cannot be read"),
        (
            json.dumps(sidecar(token_name="\ud800")).encode(),
            "cannot be written as JSON: it holds an unpaired surrogate (invalid Unicode)",
        ),
        (json.dumps(sidecar(token_address="../../x")).encode(), "base58"),
        (json.dumps(sidecar(token_address=7)).encode(), "base58"),
        (json.dumps(sidecar(tags=[1])).encode(), "tags"),
        (json.dumps(sidecar(tags={"a": 1})).encode(), "tags"),
        (json.dumps(sidecar(created_at="soon")).encode(), "created_at"),
        (json.dumps(sidecar(created_at=True)).encode(), "created_at"),
        (json.dumps(sidecar(created_at=[])).encode(), "created_at"),
    ],
    ids=lambda value: repr(value[-24:]),
)
def test_a_broken_sidecar_is_refused_by_name_and_the_others_load(tmp_path, content, reason):
    files = {"bad.json": content, "bad.png": png("blue"), "x.json": sidecar(), "x.png": png()}
    coins, refused = import_folder(tmp_path, files)
    assert [coin.sidecar["token_address"] for coin in coins] == [MINT]
    assert list(refused) == ["in/bad.json"]
    assert reason in refused["in/bad.json"]


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
def test_a_date_of_400_digits_is_refused_in_every_file_format(tmp_path: Path, files: dict[str, str]) -> None:
    given = {**{name: text.encode() for name, text in files.items()}, "far.png": png()}
    for coins, refused in (import_folder(tmp_path, given), split_results(uploaded(given.items()))):
        assert not any("created_at" in coin.sidecar for coin in coins)
        assert any("created_at must be UNIX seconds" in reason for reason in refused.values())


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
    fields=st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(FIELDS, JSON),
    ),
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
