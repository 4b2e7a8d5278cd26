"""Folders: which of their files and folders are read, and which are refused."""

import os
from pathlib import Path

import pytest

from store.errors import BadSource
from store.importing import Refusal, archives, candidates, uploaded
from tests.store.importing.files import (
    MINT,
    OTHER,
    import_folder,
    import_uploads,
    png,
    sidecar,
    split_results,
    write_files,
)


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
    with (
        pytest.raises(BadSource, match="device or a pipe"),
        archives.opened(tmp_path / "coins.zip", title="z"),
    ):
        pass


def test_unsupported_pictures_and_other_files_are_refused_with_a_reason(tmp_path):
    files = {"a.svg": b"<svg/>", "b.tiff": b"II", "c.exe": b"MZ", "d": b"?", "x.json": sidecar()}
    coins, refused = import_folder(tmp_path, files)
    assert not coins
    assert refused.keys() == {f"in/{name}" for name in files}
    assert "save it as PNG" in refused["in/a.svg"]
    assert "no picture" in refused["in/x.json"]


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
