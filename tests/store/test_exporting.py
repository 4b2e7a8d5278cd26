"""What is exported can be imported again, opens safely in a spreadsheet, and appears whole or not at all."""

import csv
import io
import json
import zipfile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from store.errors import BadSource
from store.exporting import FORMATS, export
from store.images import normalise
from store.importing import Candidate, candidates
from store.importing.tables import rows_of
from store.progress import Progress
from store.records import Record

MINT = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
OTHER = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
THIRD = "0x" + "ab" * 20


def record(address=MINT, tier="library", **changes):
    whole = {
        "token_name": "Doge Coin",
        "ticker": "DOGE",
        "description": 'Much wow,\nvery "crypto"; =1+1',
        "token_address": address,
        "created_at": 1_693_440_000,
        "caption": {"entity": "a dog", "context": "wow", "visual": "", "emotions": "-happy"},
        "tags": ["dog", "space cat"],
        "tags_categories": ["animals"],
        "chainId": 101,
        "name": "another name",
        "entity": "no facet",
        "file": "no file",
        "extensions": {"links": ["=HYPERLINK(1)"], "n": 1.5, "none": None},
    }
    return Record(whole | changes, tier)


def records():
    pending = record(OTHER, "pending", token_name="=cmd|' /C calc'!A0", ticker="@sum", description="")
    del pending.sidecar["caption"]
    return [record(), pending, record(THIRD, "approved", caption={"entity": "", "visual": "x", "odd": 1})]


@pytest.fixture
def picture_of(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for address, colour in ((MINT, "red"), (OTHER, "blue"), (THIRD, "lime")):
        buffer = io.BytesIO()
        Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
        (folder / f"{address}.jpg").write_bytes(normalise(buffer.getvalue()))
    return lambda address: folder / f"{address}.jpg"


def imported(path):
    found = list(candidates([path]))
    assert [one for one in found if not isinstance(one, Candidate)] == []
    return {one.sidecar["token_address"]: one for one in found}


@pytest.mark.parametrize("ending", ["", ".zip"])
@pytest.mark.parametrize("form", [form for form in FORMATS if form != "txt"])
def test_every_format_can_be_imported_again_with_all_it_held(tmp_path, picture_of, form, ending):
    destination = tmp_path / f"out{ending}"
    exported = export(records(), picture_of, destination=destination, format=form)
    assert (exported.done, exported.refused) == ([MINT, OTHER, THIRD], [])
    again = imported(destination)
    assert {address: found.sidecar for address, found in again.items()} == {
        one.address: one.sidecar for one in records()
    }
    for address, found in again.items():
        assert normalise(found.picture) == picture_of(address).read_bytes()


def test_the_reference_format_is_the_references_own_layout(tmp_path, picture_of):
    export(records(), picture_of, destination=tmp_path / "out", format="reference")
    files = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    assert files == {
        f"rag_db/metadata/{MINT}.json",
        f"rag_db/images/{MINT}.jpg",
        f"pending/{OTHER}.json",
        f"pending/{OTHER}.jpg",
        f"approved/{THIRD}.json",
        f"approved/{THIRD}.jpg",
    }
    metadata = json.loads((tmp_path / "out" / "rag_db" / "metadata" / f"{MINT}.json").read_text())
    assert metadata == record().sidecar


def test_an_image_folder_has_the_same_columns_in_each_line(tmp_path, picture_of):
    export(records(), picture_of, destination=tmp_path / "out", format="imagefolder")
    lines = [json.loads(line) for line in (tmp_path / "out" / "metadata.jsonl").read_text().splitlines()]
    assert len({tuple(line) for line in lines}) == 1
    assert all((tmp_path / "out" / line["file_name"]).is_file() for line in lines)
    assert (lines[0]["entity"], lines[0]["visual"]) == ("a dog", None)


def test_no_cell_of_a_csv_is_a_formula(tmp_path, picture_of):
    export(records(), picture_of, destination=tmp_path / "out", format="csv")
    with (tmp_path / "out" / "records.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert any(cell.startswith("'=cmd") for cell in rows[2])


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    lead=st.text("'=+-@\t\r\n ＝", max_size=4),
)
@example(text="SUM(A1)", lead="''=")
def test_any_description_survives_a_csv(tmp_path_factory, picture_of, text, lead):
    destination = tmp_path_factory.mktemp("csv") / "out"
    export([record(description=lead + text)], picture_of, destination=destination, format="csv")
    assert imported(destination)[MINT].sidecar["description"] == lead + text


def test_an_export_never_writes_over_anything(tmp_path, picture_of):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file.zip").write_text("mine")
    for name in ("full", "file.zip", "pictures"):
        with pytest.raises(BadSource, match="already"):
            export(records(), picture_of, destination=tmp_path / name, format="jsonl")
    assert (tmp_path / "full" / "mine.txt").read_text() == (tmp_path / "file.zip").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert export(records(), picture_of, destination=tmp_path / "empty", format="jsonl").done


def test_an_export_that_fails_leaves_nothing(tmp_path, picture_of):
    def breaking():
        yield record()
        raise RuntimeError("the disk went away")

    for name in ("out", "out.zip"):
        with pytest.raises(RuntimeError):
            export(breaking(), picture_of, destination=tmp_path / "new" / name, format="reference")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_cancelled_export_leaves_nothing(tmp_path, picture_of):
    progress = Progress()

    def cancelling():
        yield record()
        progress.cancel()
        yield record(OTHER)

    exported = export(cancelling(), picture_of, destination=tmp_path / "out", format="csv", progress=progress)
    assert exported.done == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures"]


def test_progress_is_told_and_a_missing_picture_is_refused_by_its_address(tmp_path, picture_of):
    progress = Progress()
    picture_of(OTHER).unlink()
    exported = export(records(), picture_of, destination=tmp_path / "out", format="jsonl", progress=progress)
    assert exported.done == [MINT, THIRD]
    assert [refusal.item for refusal in exported.refused] == [OTHER]
    assert progress.total == 3


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path, picture_of):
    with pytest.raises(BadSource, match="reference, jsonl, csv, imagefolder"):
        export(records(), picture_of, destination=tmp_path / "out", format="xlsx")


def test_the_same_export_gives_the_same_zip(tmp_path, picture_of):
    for name in ("a.zip", "b.zip"):
        export(records(), picture_of, destination=tmp_path / name, format="reference")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None


def test_a_plain_csv_keeps_its_apostrophes():
    ((_, row),) = rows_of(b"name,description\n'tis,'quoted'\n", suffix=".csv")
    assert row == {"token_name": "'tis", "description": "'quoted'"}


def test_pictures_with_text_files_hold_one_facet_or_all_in_one_line(tmp_path, picture_of):
    one = record(caption={"entity": "a dog.\nOn the moon", "context": "wow"}, tags=["dog", "space cat"])
    export([one], picture_of, destination=tmp_path / "joined", format="txt")
    joined = (tmp_path / "joined" / f"{MINT}.txt").read_text()
    assert joined == "a dog. On the moon, wow, dog, space cat\n"
    export([one], picture_of, destination=tmp_path / "entity", format="txt", texts="entity")
    assert (tmp_path / "entity" / f"{MINT}.txt").read_text() == "a dog.\nOn the moon\n"
    assert (tmp_path / "entity" / f"{MINT}.jpg").read_bytes() == picture_of(MINT).read_bytes()
    with pytest.raises(BadSource, match="choose one of joined, entity"):
        export([one], picture_of, destination=tmp_path / "x", format="txt", texts="image")
