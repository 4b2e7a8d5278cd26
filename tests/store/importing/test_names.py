"""Names and addresses that come from file names."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.importing import candidates
from store.records import made_up_address, validate
from tests.store.importing.files import EVM, MINT, import_folder, import_uploads, png, sidecar, split_results


def test_a_picture_with_a_sidecar_becomes_a_coin_with_every_key(tmp_path):
    caption = {"entity": "a dog", "context": "much wow", "visual": ""}
    given = sidecar(tags=["dog", "space"], caption=caption, chainId=101, links={"web": "https://doge"})
    coins, refused = import_folder(tmp_path, {"x.json": given, "x.png": png()})
    assert not refused
    assert [coin.sidecar for coin in coins] == [given]
    assert coins[0].picture.read_bytes() == png()
    assert coins[0].item == "in/x.json"


def test_a_picture_without_a_sidecar_gets_its_file_name_and_a_stable_address(tmp_path):
    coins, refused = import_folder(tmp_path, {"sub/Moon_Cat.png": png()})
    assert not refused
    assert coins[0].sidecar == {
        "token_name": "Moon Cat",
        "ticker": "",
        "description": "",
        "token_address": made_up_address(png()),
    }


@pytest.mark.parametrize(("name", "address"), [(MINT, MINT), (EVM, EVM.lower())])
def test_a_picture_named_after_an_address_gets_that_address(tmp_path, name, address):
    coins, _ = import_folder(tmp_path, {f"{name}.png": png()})
    assert coins[0].sidecar["token_address"] == address


def test_a_checksum_as_file_name_is_not_used_as_an_address(tmp_path):
    coins, _ = import_folder(tmp_path, {"a1b2c3d4e5f6a7b8c9d1e2f3a4b5c6d7.png": png()})
    assert coins[0].sidecar["token_address"].startswith("local-")


ANY_NAME = st.one_of(
    st.text(min_size=1, max_size=60),
    st.sampled_from(
        ["<img src=x onerror=alert(1)>", "![](http://x)", "‮gpj.exe", "犬コイン", "كلب", "🐕‍🦺", "e\u0301"]
    ),
)


@settings(max_examples=150, deadline=None)
@given(name=ANY_NAME, ticker=ANY_NAME)
def test_names_in_any_script_are_kept_or_refused(name, ticker):
    coins, refused = import_uploads({"x.json": sidecar(token_name=name, ticker=ticker), "x.png": png()})
    assert len(coins) + len(refused) == 1
    if coins and name.isprintable() and name == " ".join(name.split()):
        assert coins[0].sidecar["token_name"] == name


@settings(max_examples=150, deadline=None)
@given(stem=ANY_NAME)
def test_a_picture_with_any_file_name_gives_a_valid_record_or_a_refusal(stem):
    coins, refused = import_uploads({f"{stem}.png": png()})
    assert len(coins) + len(refused) <= 1 or refused
    for coin in coins:
        assert coin.item.isprintable()
        validate({"created_at": 1, **coin.sidecar}, tier="pending")
    assert all(item.isprintable() for item in refused)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stem=st.binary(min_size=1, max_size=40).filter(lambda b: not {0, 47} & set(b) and b.strip(b".")))
def test_pictures_with_non_unicode_file_names_are_imported(tmp_path, stem):
    path = os.path.join(os.fsencode(tmp_path), b"x" + stem + b".png")  # noqa: PTH118  Path takes no bytes
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(png())
    coins, refused = split_results(candidates([tmp_path]))
    os.unlink(path)  # noqa: PTH108
    assert not refused
    validate({"created_at": 1, **coins[0].sidecar}, tier="pending")
    assert coins[0].item.isprintable()
