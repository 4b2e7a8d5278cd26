"""Tables and lists: columns, separators, encodings, and what is refused row by row."""

import json
from pathlib import Path

import pytest

from store.records import made_up_address
from tests.store.importing.files import (
    EVM,
    MINT,
    OTHER,
    import_folder,
    import_folder_with_all_refusals,
    png,
    sidecar,
    zipped,
)


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
@pytest.mark.parametrize("message", [False, True])
def test_a_csv_with_any_common_separator_is_imported(tmp_path, separator, message):
    rows = [["file", "name", "description"], ["a.png", "Doge", "one, two; three"]]
    lines = [separator.join(f'"{cell}"' for cell in row) for row in rows]
    table = "\r\n".join([*([f"sep={separator}"] if message else []), *lines])
    coins, refused = import_folder(tmp_path, {"coins.csv": table, "a.png": png()})
    assert not refused
    assert (coins[0].sidecar["token_name"], coins[0].sidecar["description"]) == ("Doge", "one, two; three")


@pytest.mark.parametrize(
    "table",
    [
        "Bezeichnung;Kürzel;Bild;Schlagwörter;Datum;Adresse\nFrog;FRG;a.png;pond,hat;1. Mai 2024;",
        "nombre,símbolo,imagen,etiquetas,fecha,dirección\nFrog,FRG,a.png,pond|hat,1 de mayo de 2024,",
        "Nom,Symbole,Fichier,Étiquettes,Date de création,adresse\nFrog,FRG,a.png,pond|hat,1er mai 2024,",
        "名称,代码,图片,标签,日期,合约地址\nFrog,FRG,a.png,pond|hat,2024年5月1日,",
        "名前,シンボル,画像,タグ,日付,アドレス\nFrog,FRG,a.png,pond|hat,2024.5.1,",
    ],
    ids=["German", "Spanish", "French", "Chinese", "Japanese"],
)
def test_columns_are_read_in_other_languages(tmp_path, table):
    coins, refused = import_folder(tmp_path, {"t.csv": f"{table}{MINT}\n", "a.png": png()})
    assert not refused
    [found] = [coin.sidecar for coin in coins]
    assert [found[key] for key in ("token_name", "ticker", "tags", "created_at", "token_address")] == [
        "Frog", "FRG", ["pond", "hat"], 1_714_521_600, MINT,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "table",
    [
        "My coins\n\nname,file,name\nFrog,a.png,Toad\n",
        "# exported in May\nname;file;name;of it, with, three, commas\nFrog;a.png;Toad;\n",
    ],
)
def test_column_names_may_be_below_a_title_and_one_may_be_there_twice(tmp_path, table):
    coins, refused = import_folder(tmp_path, {"t.csv": table, "a.png": png()})
    assert not refused
    assert [(coin.sidecar["token_name"], coin.sidecar["name (2)"]) for coin in coins] == [("Frog", "Toad")]


@pytest.mark.parametrize(
    ("other", "holders"), [("1,204,331", "12345"), ("987", "12345"), ("12,5", "12,345"), ("0,125", "12,345")]
)
def test_a_quoted_comma_parts_thousands_where_no_number_has_decimals_after_one(tmp_path, other, holders):
    table = f'name,file,holders,tags\nFrog,a.png,"12,345","1,234"\nToad,b.png,"{other}",\n'
    coins, _ = import_folder(tmp_path / "groups", {"t.csv": table, "a.png": png(), "b.png": png("red")})
    assert str(coins[0].sidecar["holders"]) == holders
    assert coins[0].sidecar["tags"] == ["1", "234"]


def test_a_table_with_decimal_commas_has_its_numbers(tmp_path):
    table = "name;file;price;supply;made\nFrog;a.png;0,0012;1.234;01.05.2024\n"
    [coin], _ = import_folder(tmp_path / "comma", {"t.csv": table, "a.png": png()})
    assert [coin.sidecar[key] for key in ("price", "supply", "made")] == ["0.0012", "1234", "01.05.2024"]
    point = table.replace("0,0012", "0.0012")
    [coin], _ = import_folder(tmp_path / "point", {"t.csv": point, "a.png": png()})
    assert [coin.sidecar[key] for key in ("price", "supply")] == ["0.0012", "1.234"]


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (["05/01/2024", "13/01/2024", "2024-01-02"], [5, 13, 2]),
        (["1/5/24", "1/13/24", "1/2/24 10:30 PM"], [5, 13, 2]),
        (["24/01/05", "24/01/31", "24-01-13"], [5, 31, 13]),
        (["05/01/2024", "13/01/2024", "01/13/2024"], [None, 13, 13]),
        (["05/01/2024", "", "06/01/2024"], [None, None, None]),
    ],
    ids=["day first", "month first", "year first", "contradiction", "all unclear"],
)
def test_a_date_with_two_readings_is_read_as_its_column_allows(tmp_path, dates, days):
    rows = [f"c{number}.png,{date}" for number, date in enumerate(dates)]
    files = {f"c{number}.png": png(color) for number, color in enumerate(("red", "green", "blue"))}
    coins, refused = import_folder(tmp_path, {"coins.csv": "\n".join(["file,Date", *rows]), **files})
    read = [coin.sidecar.get("created_at") for coin in coins]
    assert ([at and at // 86_400 - 19_722 for at in read], refused) == (days, {})
    is_settled = None not in days
    assert [one.endswith("first, as its column has it") for one in coins[0].remarks] == [True] * is_settled


ROWS = [{"name": "Frog", "file": "a.png"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table", "name,file\nFrog,a.png\n"),
        ("table.json", "name,file\nFrog,a.png\n"),
        ("list", json.dumps(ROWS)),
        ("list.csv", json.dumps(ROWS)),
        ("list.txt", json.dumps(ROWS)),
        ("list.jsonl", json.dumps(ROWS, indent=1)),
        ("list.jsonl", json.dumps({"tokens": ROWS}, indent=1)),
        ("archive", zipped([("t.csv", b"name,file\nFrog,a.png\n"), ("a.png", png())])),
        ("archive.json", zipped([("t.csv", b"name,file\nFrog,a.png\n"), ("a.png", png())])),
    ],
)
def test_a_file_is_what_its_content_says_whatever_it_is_called(tmp_path, name, content):
    files = {name: content} if name.startswith("archive") else {name: content, "a.png": png()}
    coins, refused = import_folder(tmp_path, files)
    assert ([coin.sidecar["token_name"] for coin in coins], refused) == (["Frog"], {})


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
    ("table", "reason"), [(b"a,b\n1,2\n", "no column"), (b'name,file\nDoge,"open', "not CSV")]
)
def test_pictures_next_to_an_unreadable_table_are_not_imported(tmp_path, table, reason):
    files = {"coins.csv": table, "a.png": png(), "deep/b.png": png("lime")}
    coins, refused = import_folder_with_all_refusals(
        tmp_path, {**files, "x.json": sidecar(), "x.png": png("blue")}
    )
    assert [coin.sidecar["token_address"] for coin in coins] == [MINT]
    assert refused[0][0].partition(" row")[0] == "in/coins.csv"
    assert reason in refused[0][1]
    assert [item for item, _ in refused[1:]] == ["in/a.png", "in/deep/b.png"]
    assert all("waits for in/coins.csv" in why for _, why in refused[1:])
    alone, _ = import_folder(tmp_path / "alone", {name: files[name] for name in ("a.png", "deep/b.png")})
    assert len(alone) == 2


def test_a_picture_with_an_invalid_row_is_imported_once_the_row_is_fixed(tmp_path):
    table = "file,name,description\na.png,Doge,much, wow\nb.png,Cat,purr\n"
    files = {"coins.csv": table, "a.png": png(), "b.png": png("lime")}
    coins, refused = import_folder_with_all_refusals(tmp_path, files)
    assert [coin.sidecar["token_name"] for coin in coins] == ["Cat"]
    assert "row 2" in refused[0][0]
    assert [item for item, _ in refused[1:]] == ["in/a.png"]
    mended = table.replace("much, wow", '"much, wow"')
    coins, refused = import_folder_with_all_refusals(tmp_path, {**files, "coins.csv": mended})
    assert [coin.sidecar["description"] for coin in coins] == ["much, wow", "purr"]
    assert not refused


def test_logos_next_to_a_truncated_token_list_are_not_imported(tmp_path):
    files = {"tokenlist.json": '{"tokens": [{"addr', f"images/{MINT}.png": png()}
    coins, refused = import_folder_with_all_refusals(tmp_path, files)
    assert not coins
    assert [(item, why.partition(":")[0]) for item, why in refused] == [
        ("in/tokenlist.json", "it is not JSON"),
        (f"in/images/{MINT}.png", "it waits for in/tokenlist.json, which may describe it"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_json_in_any_unicode_encoding_is_read(tmp_path, encoding):
    content = json.dumps(sidecar(token_name="Dogé 犬"), ensure_ascii=False).encode(encoding)
    coins, refused = import_folder(tmp_path, {"x.json": content, "x.png": png()})
    assert not refused
    assert coins[0].sidecar["token_name"] == "Dogé 犬"


def test_a_table_with_too_many_columns_is_refused(tmp_path: Path) -> None:
    heads = ",".join(["name", *(f"c{number}" for number in range(100_000))])
    _, refused = import_folder(tmp_path, {"wide.csv": f"{heads}\nA\n"})
    assert "at most 1,000 are read" in str(refused)


@pytest.mark.slow
def test_a_list_with_too_many_entries_is_refused(tmp_path):
    files = {"x.json": "[" + "0," * 300_000 + "0]", "y.json": '{"tokens": [' + "0," * 300_000 + "0]}"}
    for name, content in files.items():
        coins, refused = import_folder(tmp_path / name[0], {name: content})
        assert not coins
        assert refused == {f"in/{name}": "it holds more than 200,000 entries; split it"}
