"""Folders: which of their files and folders are read, token lists among them, and which are refused."""

import json
import os
import time
from pathlib import Path

import pytest
from PIL import Image

from store.disk.images import normalise
from store.errors import BadSource
from store.importing import Refusal, candidates, trees, uploaded
from store.records import validate
from tests.store.importing.files import (
    EVM,
    MINT,
    OTHER,
    import_folder,
    import_uploads,
    png,
    sidecar,
    split_results,
    write_files,
)

TOKENS = Path(__file__).parents[4] / "shared" / "data" / "tokens"


def test_importing_a_library_folder_skips_its_internal_files(tmp_path):
    files = {
        f"pending/{MINT}.json": sidecar(),
        f"pending/{MINT}.jpg": png(),
        f"rag_db/metadata/{OTHER}.json": sidecar(token_address=OTHER),
        f"rag_db/images/{OTHER}.jpg": png("blue"),
        "rag_db/chroma.sqlite3": b"x",
        "rag_db/0f0f0f0f-0000-4000-8000-0123456789ab/data_level0.bin": b"x",
        "catalog.sqlite3": b"x",
        "catalog.sqlite3-wal": b"x",
        "writer.lock": b"",
        f"thumbnails/{OTHER}.webp": png(),
        "operations/7/staged.json": b"{}",
    }
    coins, refused = import_folder(tmp_path, files)
    assert not refused
    assert {coin.sidecar["token_address"]: coin.picture.read_bytes() for coin in coins} == {
        MINT: png(),
        OTHER: png("blue"),
    }


def test_pictures_of_trends_in_a_library_folder_are_no_coins(tmp_path):
    files = {
        f"rag_db/metadata/{MINT}.json": sidecar(),
        f"rag_db/images/{MINT}.jpg": png(),
        "trends/2025/space.jpg": png("blue"),
    }
    coins, refused = import_folder(tmp_path, files)
    assert [coin.sidecar["token_address"] for coin in coins] == [MINT]
    assert "of trends, not of coins" in refused["in/trends/2025"]


def test_importing_a_library_folder_skips_its_trash(tmp_path):
    files = {
        f"rag_db/metadata/{OTHER}.json": sidecar(token_address=OTHER),
        f"rag_db/images/{OTHER}.jpg": png(),
        f"trash/{MINT}.json": sidecar(),
        f"trash/{MINT}.jpg": png(),
    }
    coins, refused = import_folder(tmp_path, files)
    assert [coin.sidecar["token_address"] for coin in coins] == [OTHER]
    assert "rejected" in refused["in/trash"]
    again, _ = split_results(candidates([tmp_path / "in" / "trash"]))
    assert [coin.sidecar["token_address"] for coin in again] == [MINT]


def test_a_pipe_and_a_missing_file_are_refused_with_a_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = candidates([tmp_path / "pipe", tmp_path / "none"])
    reasons = [one.reason for one in found if isinstance(one, Refusal)]
    assert reasons == ["it is a device or a pipe, not a file", "there is no such file or folder"]


def test_a_pipe_named_like_an_archive_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "coins.zip")
    with pytest.raises(BadSource, match="device or a pipe"), trees.opened(tmp_path / "coins.zip", title="z"):
        pass


def test_unsupported_pictures_and_other_files_are_refused_with_a_reason(tmp_path):
    files = {"a.psd": b"8BPS", "b.jxl": b"?", "c.exe": b"MZ", "d": b"?", "x.json": sidecar()}
    coins, refused = import_folder(tmp_path, files)
    assert not coins
    assert refused.keys() == {f"in/{name}" for name in files}
    assert "save it as PNG" in refused["in/a.psd"]
    assert "no picture" in refused["in/x.json"]


def test_a_json_object_that_is_no_list_says_what_it_lacks(tmp_path):
    files = {"a.json": {"tokens": {"frog": 1}}, "b.json": {"type": "Map"}, "c.json": {"name": "Frog"}}
    coins, refused = import_folder(tmp_path, files)
    assert not coins
    assert refused["in/a.json"].startswith('its "tokens" is no list: a list is [{"name"')
    assert refused["in/b.json"].startswith("it has no name and no address of a coin, and is no list of coins")
    assert refused["in/c.json"] == "no picture: none in the import has the same name"


def test_system_files_are_ignored(tmp_path):
    files = {
        ".DS_Store": b"",
        ".git/config": b"",
        "__MACOSX/._a.png": b"",
        "Thumbs.db": b"",
        "desktop.ini": b"",
        "a.png": png(),
    }
    coins, refused = import_folder(tmp_path, files)
    assert (len(coins), refused) == (1, {})


def test_links_out_of_the_folder_are_refused_and_inner_links_are_skipped(tmp_path):
    secret = write_files(tmp_path / "secret", {"s.png": png("blue")})
    folder = write_files(tmp_path / "in", {"a/x.png": png()})
    (folder / "out.png").symlink_to(secret / "s.png")
    (folder / "outside").symlink_to(secret)
    (folder / "again").symlink_to(folder / "a")
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    os.mkfifo(folder / "pipe.png")
    coins, refused = split_results(candidates([folder]))
    assert [coin.item for coin in coins] == ["in/a/x.png"]
    assert "leads out" in refused["in/out.png"]
    assert "leads out" in refused["in/outside"]
    assert refused.keys() == {"in/out.png", "in/outside", "in/gone.png", "in/pipe.png"}


def test_only_the_given_files_and_their_matching_pictures_are_imported(tmp_path):
    folder = write_files(
        tmp_path, {"x.json": sidecar(), "x.png": png(), "y.png": png("blue"), "z.png": png("lime")}
    )
    coins, refused = split_results(candidates([folder / "x.json", folder / "z.png"]))
    assert not refused
    assert sorted(coin.item for coin in coins) == ["x.json", "z.png"]
    alone, _ = split_results(candidates([folder / "x.png"]))
    assert alone[0].sidecar["token_name"] == "x"


def test_an_impossibly_long_path_is_refused(tmp_path):
    coins, refused = split_results(
        candidates([tmp_path / ("x" * 5_000), write_files(tmp_path, {"a.png": png()}) / "a.png"])
    )
    assert len(coins) == 1
    assert len(refused) == 1


def test_missing_and_empty_folders_are_refused(tmp_path):
    _, refused = split_results(candidates([tmp_path / "nowhere", write_files(tmp_path / "void", {}) / "."]))
    assert "no such file" in refused[str(tmp_path / "nowhere")]
    (tmp_path / "void").mkdir()
    _, refused = split_results(candidates([tmp_path / "void"]))
    assert "nothing" in refused["void"]


def test_uploads_are_imported_like_a_folder():
    table = f"file,address,name\nlogo.png,{OTHER},Cat\n".encode()
    files = {
        "x.json": sidecar(),
        "x.png": png(),
        "logo.png": png("blue"),
        "t.csv": table,
        "y.gif": png("lime"),
    }
    coins, refused = import_uploads(files)
    assert not refused
    assert sorted(coin.sidecar["token_name"] for coin in coins) == ["Cat", "Doge Coin", "y"]
    assert all(isinstance(coin.picture, bytes) for coin in coins)


@pytest.mark.parametrize("name", ["../../etc/x.png", "/etc/x.png", "C:\\x.png", "..\\x.png", "a\0.png", ""])
def test_an_upload_with_an_unsafe_name_is_refused(name):
    coins, refused = import_uploads({name: png(), "fine.png": png("blue")})
    assert [coin.item for coin in coins] == ["fine.png"]
    assert len(refused) == 1


def test_different_uploads_with_the_same_name_are_all_imported():
    coins, refused = split_results(uploaded([("a.png", png()), ("a.png", png("blue")), ("a.png", png())]))
    assert not refused
    assert {coin.picture for coin in coins} == {png(), png("blue")}


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
        ("//host/share.png", "network"),
        ("file:///etc/passwd", "file:"),
        ("data:image/png;base64,A", "data:"),
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
