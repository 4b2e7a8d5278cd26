"""Folders, tables, single files and uploads become coins; invalid ones are refused by name."""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from store.errors import BadSource
from store.importing import Candidate, Refusal, archives, candidates, uploaded
from store.records import made_up_address, validate

MINT = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
OTHER = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
EVM = "0x" + "aB" * 20


def png(colour="red"):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
    return buffer.getvalue()


def sidecar(**changes):
    whole = {
        "token_name": "Doge Coin",
        "ticker": "DOGE",
        "description": "Much wow",
        "token_address": MINT,
        "created_at": 1_693_440_000,
    }
    return whole | changes


def write_files(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict | list):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def split_results(found):
    coins, refused = [], {}
    for one in found:
        if isinstance(one, Candidate):
            coins.append(one)
        else:
            assert isinstance(one, Refusal)
            refused[one.item] = one.reason
    return coins, refused


def import_folder(folder, files):
    return split_results(candidates([write_files(folder / "in", files)]))


def import_folder_with_all_refusals(folder, files):
    """The coins, and every refusal with its item, including several refusals of one item."""
    found = list(candidates([write_files(folder / "in", files)]))
    refused = [(one.item, one.reason) for one in found if isinstance(one, Refusal)]
    return [one for one in found if isinstance(one, Candidate)], refused


def import_uploads(files):
    return split_results(
        uploaded(
            (name, json.dumps(v).encode() if isinstance(v, dict | list) else v) for name, v in files.items()
        )
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


def test_a_csv_with_any_common_column_names_is_imported(tmp_path):
    table = (
        "File Name;Address;Name;Symbol;Description;Tags;Created At;Entity;Context;website\n"
        f"a.png;{MINT};Doge;DOGE;Much wow;dog|space;2024-05-01T12:00:00Z;a dog;wow;https://doge\n"
        f";{OTHER};Cat;CAT;;;;;;\n"
        "a b.png;;Bird;BRD;;;1693440000.5;;;\n"
    )
    files = {"coins.csv": table, "a.png": png(), f"logos/{OTHER}.png": png("blue"), "a b.png": png("lime")}
    coins, refused = import_folder(tmp_path, files)
    assert not refused
    doge, cat, bird = [coin.sidecar for coin in coins]
    assert doge == {
        "token_name": "Doge",
        "ticker": "DOGE",
        "description": "Much wow",
        "token_address": MINT,
        "created_at": 1_714_564_800,
        "tags": ["dog", "space"],
        "website": "https://doge",
        "caption": {"entity": "a dog", "context": "wow"},
    }
    assert cat == {"token_name": "Cat", "ticker": "CAT", "description": "", "token_address": OTHER}
    assert (bird["token_address"], bird["created_at"]) == (made_up_address(png("lime")), 1_693_440_000)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("said", [False, True])
def test_a_csv_with_any_common_separator_is_imported(tmp_path, separator, said):
    rows = [["file", "name", "description"], ["a.png", "Doge", "one, two; three"]]
    lines = [separator.join(f'"{cell}"' for cell in row) for row in rows]
    table = "\r\n".join([*([f"sep={separator}"] if said else []), *lines])
    coins, refused = import_folder(tmp_path, {"coins.csv": table, "a.png": png()})
    assert not refused
    assert (coins[0].sidecar["token_name"], coins[0].sidecar["description"]) == ("Doge", "one, two; three")


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", "file,name\n"), ("a.jsonl", ""), ("a.json", "[]"), ("a.jsonl", "\n\n")]
)
def test_an_empty_list_is_reported(tmp_path, name, content):
    coins, refused = import_folder(tmp_path, {name: content})
    assert (coins, refused) == ([], {f"in/{name}": "there is no coin in it"})


def test_each_invalid_row_is_refused_with_its_number_and_the_others_load(tmp_path):
    table = (
        "file,address,name,symbol\n"
        f"a.png,{MINT},Doge,DOGE\n"
        f"missing.png,{OTHER},Cat,CAT\n"
        "a.png,../../x,Evil,EVL\n"
        "/etc/passwd,,Absolute,ABS\n"
        "../../outside.png,,Up,UP\n"
        "file:///etc/passwd,,Url,URL\n"
        f"a.png,{EVM},Eth,ETH,too,many\n"
        f"a.png,{EVM},Eth,ETH\n"
    )
    coins, refused = import_folder(tmp_path, {"coins.csv": table, "a.png": png()})
    assert [coin.sidecar["token_address"] for coin in coins] == [MINT, EVM.lower()]
    reasons = [
        refused[f"in/coins.csv row {line}"] for line in ("3 Cat", "4 Evil", "5 Absolute", "6 Up", "7 Url")
    ]
    for reason, word in zip(reasons, ("missing.png", "base58", "absolute", "outside", "file:"), strict=True):
        assert word in reason
    assert "more cells" in next(reason for item, reason in refused.items() if "row 8" in item)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (b"a,b\n1,2\n", "no column"),
        (b"", "no line of column names"),
        (b"name,symbol,name\nx,y,z\n", "two columns"),
        ("name\nDogé\n".encode("latin-1"), "UTF-8"),
        (b'name,file\nDoge,"open', "not CSV"),
    ],
)
def test_pictures_next_to_an_unreadable_table_are_not_imported(tmp_path, table, reason):
    files = {"coins.csv": table, "a.png": png(), "deep/b.png": png("lime")}
    coins, refused = import_folder_with_all_refusals(
        tmp_path, {**files, "x.json": sidecar(), "x.png": png("blue")}
    )
    assert [coin.sidecar["token_address"] for coin in coins] == [MINT]
    assert {item.partition(" row")[0] for item, _ in refused} == {"in/coins.csv"}
    assert reason in refused[0][1]
    assert "2 pictures beside it" in refused[1][1]
    alone, _ = import_folder(tmp_path / "alone", {name: files[name] for name in ("a.png", "deep/b.png")})
    assert len(alone) == 2


def test_a_picture_with_an_invalid_row_is_imported_once_the_row_is_fixed(tmp_path):
    table = "file,name,description\na.png,Doge,much, wow\nb.png,Cat,purr\n"
    files = {"coins.csv": table, "a.png": png(), "b.png": png("lime")}
    coins, refused = import_folder_with_all_refusals(tmp_path, files)
    assert [coin.sidecar["token_name"] for coin in coins] == ["Cat"]
    assert [("row 2" in item, "1 picture beside" in why) for item, why in refused] == [
        (True, False),
        (False, True),
    ]
    mended = table.replace("much, wow", '"much, wow"')
    coins, refused = import_folder_with_all_refusals(tmp_path, {**files, "coins.csv": mended})
    assert [coin.sidecar["description"] for coin in coins] == ["much, wow", "purr"]
    assert not refused


def test_logos_next_to_a_truncated_token_list_are_not_imported(tmp_path):
    files = {"tokenlist.json": '{"tokens": [{"addr', f"images/{MINT}.png": png()}
    coins, refused = import_folder_with_all_refusals(tmp_path, files)
    assert not coins
    assert [why.partition(":")[0] for _, why in refused] == [
        "it is not JSON",
        "1 picture beside it may be told of in what could not be read; mend it, or import it alone",
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_json_in_any_unicode_encoding_is_read(tmp_path, encoding):
    content = json.dumps(sidecar(token_name="Dogé 犬"), ensure_ascii=False).encode(encoding)
    coins, refused = import_folder(tmp_path, {"x.json": content, "x.png": png()})
    assert not refused
    assert coins[0].sidecar["token_name"] == "Dogé 犬"


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
            "cannot be written as JSON: it holds half a sign",
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
    ("said", "seconds"),
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
def test_dates_in_every_common_format_are_read(tmp_path, said, seconds):
    coins, refused = import_folder(tmp_path, {"x.json": sidecar(created_at=said), "x.png": png()})
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


def test_a_table_with_too_many_columns_is_refused(tmp_path: Path) -> None:
    heads = ",".join(["name", *(f"c{number}" for number in range(100_000))])
    _, refused = import_folder(tmp_path, {"wide.csv": f"{heads}\nA\n"})
    assert "at most 1,000 are read" in str(refused)


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


def test_tags_are_split_trimmed_and_deduplicated(tmp_path):
    coins, _ = import_folder(tmp_path, {"x.json": sidecar(tags=["a,b", " a ", "", "c\nd"]), "x.png": png()})
    assert coins[0].sidecar["tags"] == ["a", "b", "c d"]


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


def test_a_list_with_too_many_entries_is_refused(tmp_path):
    files = {"x.json": "[" + "0," * 300_000 + "0]", "y.json": '{"tokens": [' + "0," * 300_000 + "0]}"}
    for name, content in files.items():
        coins, refused = import_folder(tmp_path / name[0], {name: content})
        assert not coins
        assert refused == {f"in/{name}": "it holds more than 200,000 entries; split it"}


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


FIELDS = (
    *("token_name", "name", "ticker", "description", "token_address", "address", "created_at", "tags"),
    *("caption", "extensions", "tags_categories", "image", "logoURI", "tokens", "more", "entity"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


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
