"""Token lists: each token with a picture in the import becomes a coin; the others are refused."""

import json
import time
from pathlib import Path

import pytest
from PIL import Image

from store.disk.images import normalise
from store.importing import Candidate, candidates, uploaded
from store.records import validate

TOKENS = Path(__file__).parents[4] / "shared" / "data" / "tokens"
MINT = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
OTHER = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
EVM = "0x" + "aB" * 20


def token(**changes):
    whole = {"chainId": 101, "address": MINT, "symbol": "DOGE", "name": "Doge", "decimals": 6}
    return whole | changes


def picture(path, colour="red"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), colour).save(path)
    return path


def listed(folder, *tokens, name="tokenlist.json"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"name": "a list", "version": {"major": 1}, "tokens": list(tokens)}))
    return path


def split_results(found):
    every = list(found)
    coins = [one for one in every if isinstance(one, Candidate)]
    return coins, {one.item: one.reason for one in every if not isinstance(one, Candidate)}


def test_a_token_keeps_every_key_under_sidecar_names(tmp_path):
    extensions = {"description": "Much wow", "website": "https://doge"}
    logo = "images/doge%20coin.png"
    picture(tmp_path / "images" / "doge coin.png")
    listed(tmp_path, token(logoURI=logo, tags=["meme", "dog,cat"], extensions=extensions))
    coins, refused = split_results(candidates([tmp_path]))
    assert not refused
    assert coins[0].sidecar == {
        "token_name": "Doge",
        "ticker": "DOGE",
        "description": "Much wow",
        "token_address": MINT,
        "tags": ["meme", "dog", "cat"],
        "chainId": 101,
        "decimals": 6,
        "logoURI": logo,
        "extensions": extensions,
    }


def test_a_folder_with_a_token_list_imports_only_the_listed_pictures(tmp_path):
    picture(tmp_path / "a.png")
    picture(tmp_path / "deep" / "unlisted.png")
    (tmp_path / "notes.txt").write_text("not named in the list")
    listed(tmp_path, token(logoURI="a.png"))
    listed(tmp_path / "deep", token(address=OTHER, logoURI="unlisted.png"))
    coins, refused = split_results(candidates([tmp_path]))
    assert [coin.sidecar["token_address"] for coin in coins] == [MINT]
    assert not refused


def test_a_token_list_does_not_affect_other_folders(tmp_path):
    picture(tmp_path / "listed" / "a.png")
    picture(tmp_path / "listed" / "unused.png")
    picture(tmp_path / "loose" / "b.png")
    listed(tmp_path / "listed", token(logoURI="a.png"))
    coins, refused = split_results(candidates([tmp_path]))
    assert not refused
    assert {coin.sidecar["token_name"] for coin in coins} == {"Doge", "b"}


def test_a_token_list_given_alone_finds_the_pictures_next_to_it(tmp_path):
    picture(tmp_path / "images" / f"{MINT}.png")
    coins, refused = split_results(candidates([listed(tmp_path, token(logoURI=f"images/{MINT}.png"))]))
    assert (len(coins), refused) == (1, {})


def test_a_remote_logo_is_matched_by_address_or_by_path_ending(tmp_path):
    picture(tmp_path / "images" / f"{MINT}.png")
    picture(tmp_path / "images" / f"{EVM.lower()}.png")
    picture(tmp_path / "assets" / OTHER / "logo.png")
    tokens = [
        token(logoURI="https://example.com/whatever.png"),
        token(address=EVM, logoURI="ipfs://Qm/7.png"),
        token(address=OTHER, logoURI=f"https://example.com/mainnet/{OTHER}/logo.png"),
    ]
    listed(tmp_path, *tokens)
    coins, refused = split_results(candidates([tmp_path]))
    assert not refused
    assert [coin.picture.parent.name for coin in coins] == ["images", "images", OTHER]


def test_a_single_logo_png_is_not_used_for_every_token(tmp_path):
    picture(tmp_path / "logo.png")
    listed(tmp_path, *(token(address=a, logoURI=f"https://x/{a}/logo.png") for a in (MINT, OTHER)))
    coins, refused = split_results(candidates([tmp_path]))
    assert not coins
    assert all("lies on the network" in reason for reason in refused.values())


@pytest.mark.parametrize(
    ("logo", "reason"),
    [
        ("/etc/passwd", "absolute"),
        ("C:\\secret.png", "absolute"),
        ("//host/share.png", "absolute"),
        ("file:///etc/passwd", "file:"),
        ("data:image/png;base64,AAAA", "data:"),
        ("javascript:alert(1)", "javascript:"),
        ("../outside.png", "outside"),
        ("images/../../outside.png", "outside"),
        ("%2e%2e/outside.png", "outside"),
        ("..\\outside.png", "outside"),
        ("link.png", "no picture"),
        ("missing.png", "no picture"),
        ("http://[::1/x.png", "cannot be read"),
        ("https://example.com/x.png", "network"),
        ("x" * 10_000, "too long"),
        ("", "no picture"),
        (None, "no picture"),
        (7, "text"),
    ],
)
def test_a_logo_outside_the_import_is_never_read(tmp_path, logo, reason):
    picture(tmp_path / "outside.png")
    inside = tmp_path / "in"
    picture(inside / "fine.png")
    (inside / "link.png").symlink_to(tmp_path / "outside.png")
    listed(inside, token(logoURI=logo), token(address=OTHER, logoURI="fine.png"))
    coins, refused = split_results(candidates([inside]))
    assert [coin.sidecar["token_address"] for coin in coins] == [OTHER]
    (why,) = [why for item, why in refused.items() if "token 1 DOGE" in item]
    assert reason in why


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("text", "not an object"),
        (None, "not an object"),
        ({"symbol": "X", "logoURI": "a.png"}, "no address"),
        (token(address="../../x", logoURI="a.png"), "base58"),
        (token(address=5, logoURI="a.png"), "base58"),
        (token(tags="\ud800", logoURI="a.png"), "cannot be written"),
        (token(name="\udfff", logoURI="a.png"), "cannot be written"),
        (token(tags=[7], logoURI="a.png"), "tags"),
    ],
)
def test_an_invalid_token_is_refused_by_its_position_and_the_others_load(tmp_path, bad, reason):
    picture(tmp_path / "a.png")
    listed(tmp_path, bad, token(address=OTHER, logoURI="a.png"))
    coins, refused = split_results(candidates([tmp_path]))
    assert [coin.sidecar["token_address"] for coin in coins] == [OTHER]
    ((item, why),) = refused.items()
    assert "token 1" in item
    assert item.isprintable()
    assert reason in why


def test_a_token_list_and_its_pictures_can_be_uploaded_together(tmp_path):
    image = picture(tmp_path / f"{MINT}.png").read_bytes()
    content = json.dumps({"tokens": [token(logoURI=f"images/{MINT}.png")]}).encode()
    coins, refused = split_results(uploaded([("list.json", content), (f"{MINT}.png", image)]))
    assert not refused
    assert (coins[0].sidecar["token_address"], coins[0].picture) == (MINT, image)


def test_token_lists_and_sidecars_are_distinguished_by_content(tmp_path):
    picture(tmp_path / "a" / "tokenlist.png")
    picture(tmp_path / "a" / "x.png")
    listed(tmp_path / "a", token(logoURI="x.png"))
    picture(tmp_path / "b" / "x.png")
    whole = {"token_name": "Basket", "ticker": "B", "token_address": OTHER, "tokens": ["a", "b"]}
    (tmp_path / "b" / "x.json").write_text(json.dumps(whole))
    coins, refused = split_results(candidates([tmp_path]))
    assert not refused
    assert sorted(coin.sidecar["token_name"] for coin in coins) == ["Basket", "Doge"]


def test_a_token_list_in_utf_16_is_recognised(tmp_path):
    picture(tmp_path / "a.png")
    (tmp_path / "list.json").write_bytes(json.dumps({"tokens": [token(logoURI="a.png")]}).encode("utf-16"))
    coins, refused = split_results(candidates([tmp_path]))
    assert (len(coins), refused) == (1, {})


@pytest.mark.slow
def test_14000_tokens_are_read_one_at_a_time_within_ten_seconds(tmp_path):
    picture(tmp_path / "a.png")
    listed(tmp_path, *(token(name=f"Coin {n}", logoURI="a.png", extensions={"n": n}) for n in range(14_000)))
    begun = time.thread_time()  # the machine may be busy with something else
    found = candidates([tmp_path])
    assert next(found).sidecar["token_name"] == "Coin 0"
    assert sum(1 for _ in found) == 13_999
    assert time.thread_time() - begun < 10


@pytest.mark.skipif(not TOKENS.is_dir(), reason="the real tokens in ../shared/data are not here")
@pytest.mark.parametrize("path", [TOKENS, TOKENS / "tokenlist.json"], ids=["folder", "list"])
def test_all_63_real_tokens_are_imported(path):
    coins, refused = split_results(candidates([path]))
    assert not refused
    assert len({coin.sidecar["token_address"] for coin in coins}) == 63
    for coin in coins:
        validate({"created_at": 1, **coin.sidecar}, tier="pending")
        assert normalise(coin.picture)
