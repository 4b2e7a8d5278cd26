"""Names of files, and files in folders and archives."""

import bz2
import gzip
import io
import json
import lzma
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from base64 import b64encode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.importing import candidates, trees, uploaded
from store.records import made_up_address, validate
from tests.store.importing.files import (
    EVM,
    MINT,
    import_folder,
    import_uploads,
    png,
    sidecar,
    split_results,
    zipped,
)


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


SIDECAR = json.dumps(
    {"token_name": "Doge", "ticker": "DOGE", "description": "", "token_address": MINT, "created_at": 1}
).encode()


def import_zip(content, *, name="coins.zip"):
    return split_results(uploaded([(name, content)]))


def test_a_zip_is_read_like_a_folder_from_disk_and_from_an_upload(tmp_path):
    content = zipped([("a/b/x.json", SIDECAR), ("a/b/x.png", png()), ("c/Cat.png", png("blue"))])
    (tmp_path / "coins.zip").write_bytes(content)
    coins, refused = import_zip(content)
    assert not refused
    assert {coin.sidecar["token_name"]: coin.picture for coin in coins} == {"Doge": png(), "Cat": png("blue")}
    assert [(c.item, c.sidecar, c.picture) for c in candidates([tmp_path / "coins.zip"])] == [
        (c.item, c.sidecar, c.picture) for c in coins
    ]
    assert len(list(candidates([tmp_path]))) == 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../x.png", "out of the import"),
        ("a/../../x.png", "out of the import"),
        ("..\\x.png", "out of the import"),
        ("/etc/x.png", "absolute"),
        ("\\\\host\\x.png", "absolute"),
        ("C:\\x.png", "absolute"),
        ("c:x.png", "absolute"),
    ],
)
def test_an_entry_outside_the_archive_is_refused_and_the_others_load(tmp_path, name, reason):
    before = sorted(tmp_path.rglob("*"))
    coins, refused = import_zip(zipped([(name, png()), ("x.png", png("blue"))]))
    assert [coin.picture for coin in coins] == [png("blue")]
    ((item, why),) = refused.items()
    assert item.startswith("coins.zip/")
    assert reason in why
    assert sorted(tmp_path.rglob("*")) == before


def test_links_encrypted_entries_and_repeated_names_are_refused():
    link = zipfile.ZipInfo("link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    content = bytearray(zipped([("locked.png", png("lime")), (link, "/etc/passwd"), ("x.png", png())]))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # "encrypted" flag of the first entry
        content[content.index(mark) + offset] |= 1
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([("x.png", png()), ("x.png", png("blue"))])
    coins, refused = import_zip(bytes(content))
    assert [coin.item for coin in coins] == ["coins.zip/x.png"]
    assert "link" in refused["coins.zip/link.png"]
    assert "encrypted" in refused["coins.zip/locked.png"]
    coins, refused = import_zip(twice)
    assert len(coins) == 1
    assert "second entry" in refused["coins.zip/x.png"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_an_unsupported_compression_is_refused(compression):
    coins, refused = import_zip(zipped([("x.png", png())], compression=compression))
    assert not coins
    assert "compressed" in refused["coins.zip/x.png"]


@pytest.mark.slow
@pytest.mark.parametrize("admitted", [True, False], ids=["header tells", "header lies"])
def test_a_zip_bomb_is_refused_without_filling_memory_and_the_others_load(admitted):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("bomb.png", "w") as entry:
            for _ in range(130):
                entry.write(bytes(1_000_000))
        archive.writestr("x.png", png())
    content = bytearray(buffer.getvalue())
    if not admitted:
        for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            struct.pack_into("<L", content, content.index(mark) + offset, 40_000_000)
    tracemalloc.start()
    coins, refused = import_zip(bytes(content))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [coin.item for coin in coins] == ["coins.zip/x.png"]
    assert list(refused) == ["coins.zip/bomb.png"]
    assert peak < 60_000_000


@pytest.mark.slow
def test_many_zip_bombs_together_are_stopped_at_the_total_limit(monkeypatch):
    monkeypatch.setattr(trees, "MAX_UNPACKED", 60_000_000)
    content = bytearray(zipped([(f"{n}.png", bytes(30_000_000)) for n in range(9)]))
    small = 9_000_000  # small enough to pass the check of the header
    place = -1
    while (place := content.find(b"PK\x01\x02", place + 1)) >= 0:
        struct.pack_into("<L", content, place + 24, small)
    coins, refused = import_zip(bytes(content))
    assert not coins
    assert "the rest of it was left out" in refused["coins.zip"]


def test_an_entry_larger_than_50_mb_is_refused():
    coins, refused = import_zip(zipped([("big.png", bytes(51_000_000)), ("x.png", png())]))
    assert len(coins) == 1
    assert "larger than 50 MB" in refused["coins.zip/big.png"]


def test_an_entry_with_a_false_size_is_refused():
    content = bytearray(zipped([("x.png", png()), ("y.png", bytes(5_000))]))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<L", content, content.rindex(mark) + offset, 10)
    coins, refused = import_zip(bytes(content))
    assert [coin.item for coin in coins] == ["coins.zip/x.png"]
    assert "damaged" in refused["coins.zip/y.png"]


def test_reading_stops_when_the_unpacked_content_is_too_large(monkeypatch):
    monkeypatch.setattr(trees, "MAX_UNPACKED", 2_500)
    content = zipped([(f"{n}.png", bytes(1_000)) for n in range(9)])
    coins, refused = import_zip(content)
    assert len(coins) == 2
    assert "the rest of it was left out" in refused["coins.zip"]


def test_an_uncompressed_archive_may_exceed_the_unpacked_limit(monkeypatch):
    monkeypatch.setattr(trees, "MAX_UNPACKED", 2_500)
    content = zipped([(f"{n}.png", bytes(1_000)) for n in range(9)], compression=zipfile.ZIP_STORED)
    coins, refused = import_zip(content)
    assert (len(coins), refused) == (9, {})


def test_an_archive_with_too_many_entries_is_refused_before_listing_them(monkeypatch):
    content = zipped([(f"{n}.png", b"") for n in range(50)])
    monkeypatch.setattr(trees, "MAX_ENTRIES", 49)
    assert "at most 49" in import_zip(content)[1]["coins.zip"]
    monkeypatch.setattr(trees, "MAX_DIRECTORY", 500)
    assert "split it" in import_zip(content)[1]["coins.zip"]


def test_an_archive_in_an_archive_is_opened_and_one_in_that_is_not():
    deepest = zipped([("z.png", png("lime"))])
    inner = zipped([("x.png", png()), ("deepest.zip", deepest)])
    coins, refused = import_zip(zipped([("inner.zip", inner), ("y.png", png("blue"))]))
    assert {coin.item for coin in coins} == {"coins.zip/y.png", "coins.zip/inner.zip/x.png"}
    assert "not opened" in refused["coins.zip/inner.zip/deepest.zip"]


def test_archives_in_an_archive_share_its_limit(monkeypatch):
    monkeypatch.setattr(trees, "MAX_UNPACKED", 40_000)
    inner = zipped([(f"{n}.png", bytes(6_000)) for n in range(3)])
    coins, refused = import_zip(zipped([(f"{n}.zip", inner) for n in range(9)]))
    assert len(coins) < 27
    assert "the rest of it was left out" in refused["coins.zip"]


def tarred(files, mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("00000.tar", "w"),
        ("00000.tar.gz", "w:gz"),
        ("X.TGZ", "w:gz"),
        ("a.tar.xz", "w:xz"),
        ("a.bz2", "w:bz2"),
    ],
)
def test_a_shard_of_webdataset_is_read_as_a_folder(tmp_path, name, mode):
    caption = json.dumps({"caption": "a frog", "url": "https://example.org/frog.png"}).encode()
    shard = tarred({"000.png": png(), "000.txt": b"a frog", "000.json": caption, "../001.png": png()}, mode)
    (tmp_path / name).write_bytes(shard)
    for found in (candidates([tmp_path / name]), candidates([tmp_path]), uploaded([(name, shard)])):
        coins, refused = split_results(found)
        assert [(coin.sidecar["token_name"], coin.sidecar["caption"]) for coin in coins] == [
            ("000", {"entity": "a frog"})
        ]
        assert sorted(reason[:9] for reason in refused.values()) == ["it is a l", "its name "]


def test_a_packed_list_is_read_as_the_list(tmp_path):
    rows = [{"name": "Frog", "symbol": "FROG", "image": "data:image/png;base64," + b64encode(png()).decode()}]
    (tmp_path / "coins.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode()))
    coins, refused = split_results(candidates([tmp_path]))
    assert not refused
    assert [coin.sidecar["ticker"] for coin in coins] == ["FROG"]


@pytest.mark.parametrize(
    ("end", "packed"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_a_packed_bomb_is_refused(tmp_path, end, packed):
    (tmp_path / f"coins.json.{end}").write_bytes(packed(bytes(50_000_000)))
    coins, refused = split_results(candidates([tmp_path]))
    assert not coins
    assert "as only a bomb does" in str(refused)


@pytest.mark.parametrize("content", [b"", b"PK", b"this is text", zipped([("x.png", png())])[:-30]])
def test_a_file_that_is_not_a_zip_is_refused_by_name(content):
    coins, refused = import_zip(content)
    assert not coins
    assert "zip" in refused["coins.zip"] or "list of entries" in refused["coins.zip"]


def test_a_corrupted_zip_gives_coins_or_reasons():
    whole = zipped([("x.json", SIDECAR), ("x.png", png()), ("y.png", png("blue"))])
    for place in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        coins, refused = import_zip(bytes(broken))
        assert coins or refused
