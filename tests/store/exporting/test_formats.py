"""Every format can be imported again without loss."""

import csv
import json
import zipfile

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from store.disk.images import normalise
from store.errors import BadSource
from store.exporting import export, formats
from store.importing import trees
from store.importing.tables import MAX_ROWS, rows_of
from tests.length import repeated
from tests.store.exporting.coins import LOSSLESS, MINT, OTHER, THIRD, imported, record, records

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.mark.parametrize("ending", ["", ".zip"])
@pytest.mark.parametrize("form", LOSSLESS)
def test_every_export_format_can_be_imported_without_loss(tmp_path, picture_of, form, ending):
    destination = tmp_path / f"out{ending}"
    exported = export(records(), picture_of, destination=destination, format=form)
    assert (exported.done, exported.refused) == ([MINT, OTHER, THIRD], [])
    again = imported(destination)
    assert {address: found.sidecar for address, found in again.items()} == {
        one.address: one.sidecar for one in records()
    }
    for address, found in again.items():
        assert normalise(found.picture) == picture_of(address).read_bytes()


@pytest.mark.parametrize("form", LOSSLESS)
def test_an_export_of_the_largest_table_stays_within_the_zip_limits(tmp_path, picture_of, form):
    long = [record(f"local-{n}{'a' * 57}", tier) for n, tier in enumerate(("library", "approved", "pending"))]
    destination = tmp_path / "out.zip"
    export(long, lambda _: picture_of(MINT), destination=destination, format=form)
    with zipfile.ZipFile(destination) as archive:
        entries = archive.infolist()
    assert len(entries) <= 2 * len(long) + 1
    assert trees.MAX_ENTRIES >= 2 * MAX_ROWS + 1
    listed = max(46 + len(entry.filename) + len(entry.extra) for entry in entries)  # bytes in the directory
    assert listed * trees.MAX_ENTRIES <= trees.MAX_DIRECTORY


def test_a_parquet_export_is_what_datasets_read_in_parts(tmp_path, picture_of, monkeypatch):
    monkeypatch.setattr(formats, "_PART", len(picture_of(MINT).read_bytes()) + 1)
    export(records(), picture_of, destination=tmp_path / "out", format="parquet")
    parts = sorted((tmp_path / "out" / "data").iterdir())
    assert [part.name for part in parts] == [f"part-{number:05}.parquet" for number in range(3)]
    table = pq.read_table(parts[0])
    assert json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]["image"]["_type"] == "Image"
    (row,) = table.to_pylist()
    assert row["image"] == {"path": f"{MINT}.jpg", "bytes": picture_of(MINT).read_bytes()}
    assert (row["token_address"], row["entity"], row["tags"]) == (MINT, "a dog", ["dog|wolf"])


def test_a_coco_export_has_an_annotation_for_each_facet_that_may_be_changed(tmp_path, picture_of):
    export(records(), picture_of, destination=tmp_path / "out", format="coco")
    path = tmp_path / "out" / "annotations" / "captions.json"
    coco = json.loads(path.read_text())
    assert [image["file_name"] for image in coco["images"]] == [f"{one}.jpg" for one in (MINT, OTHER, THIRD)]
    of_first = [one for one in coco["annotations"] if one["image_id"] == 1]
    assert [(one["facet"], one["caption"]) for one in of_first] == [
        ("entity", "a dog"), ("context", "wow"), ("emotions", "-happy"),
    ]  # fmt: skip
    assert len({one["id"] for one in coco["annotations"]}) == len(coco["annotations"])
    of_first[0]["caption"] = "a cat"
    path.write_text(json.dumps(coco))
    changed = imported(tmp_path / "out")[MINT].sidecar["caption"]
    assert (changed["entity"], changed["context"], changed["visual"]) == ("a cat", "wow", "")


def test_the_reference_format_uses_the_reference_layout(tmp_path, picture_of):
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
    assert metadata == records()[0].sidecar


def test_an_image_folder_has_the_same_columns_in_each_line(tmp_path, picture_of):
    export(records(), picture_of, destination=tmp_path / "out", format="imagefolder")
    lines = [json.loads(line) for line in (tmp_path / "out" / "metadata.jsonl").read_text().splitlines()]
    assert len({tuple(line) for line in lines}) == 1
    assert all((tmp_path / "out" / line["file_name"]).is_file() for line in lines)
    assert (lines[0]["entity"], lines[0]["visual"]) == ("a dog", None)


def test_a_csv_contains_no_formulas(tmp_path, picture_of):
    export(records(), picture_of, destination=tmp_path / "out", format="csv")
    with (tmp_path / "out" / "records.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert any(cell.startswith("'=cmd") for cell in rows[2])


@settings(
    max_examples=repeated(200, least=25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    lead=st.text("'=+-@\t\r\n ＝", max_size=4),
)
@example(text="SUM(A1)", lead="''=")
def test_any_description_survives_a_csv_round_trip(tmp_path_factory, picture_of, text, lead):
    destination = tmp_path_factory.mktemp("csv") / "out"
    export([record(description=lead + text)], picture_of, destination=destination, format="csv")
    assert imported(destination)[MINT].sidecar["description"] == lead + text


def test_repeating_an_export_gives_an_identical_zip(tmp_path, picture_of):
    for name in ("a.zip", "b.zip"):
        export(records(), picture_of, destination=tmp_path / name, format="reference")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None


def test_a_plain_csv_keeps_its_apostrophes():
    ((_, row),) = rows_of(b"name,description\n'tis,'quoted'\n", suffix=".csv")
    assert row == {"name": "'tis", "description": "'quoted'"}


def test_text_files_contain_one_facet_or_all_facets_in_one_line(tmp_path, picture_of):
    one = record(caption={"entity": "a dog.\nOn the moon", "context": "wow"}, tags=["dog", "space cat"])
    export([one], picture_of, destination=tmp_path / "joined", format="txt")
    joined = (tmp_path / "joined" / f"{MINT}.txt").read_text()
    assert joined == "a dog. On the moon, wow, dog, space cat\n"
    export([one], picture_of, destination=tmp_path / "entity", format="txt", texts="entity")
    assert (tmp_path / "entity" / f"{MINT}.txt").read_text() == "a dog.\nOn the moon\n"
    assert (tmp_path / "entity" / f"{MINT}.jpg").read_bytes() == picture_of(MINT).read_bytes()
    with pytest.raises(BadSource, match="choose one of joined, entity"):
        export([one], picture_of, destination=tmp_path / "x", format="txt", texts="image")
