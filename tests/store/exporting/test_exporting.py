"""An export can be imported again, is safe to open in a spreadsheet, and appears complete or not at all."""

import csv
import io
import json
import zipfile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from store.disk.images import normalise
from store.errors import BadSource, ReadOnly
from store.exporting import FORMATS, export
from store.exporting.places import appearing
from store.importing import Candidate, archives, candidates
from store.importing.tables import MAX_ROWS, rows_of
from store.progress import Progress
from store.records import Record
from store.runtime import open_library, open_reader
from store.tasks.export import KEPT, remove, start, zipped
from store.tasks.export import destination as where
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")

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
        "tags": ["dog|wolf", "space cat", "=1+1", "🚀"],
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
    odd = {
        "entity": "",
        "visual": "x\r\n\n 漢字\u2028‏שלום 👩‍🚀",
        "emotions": '"quoted", and, more\t',
        "odd": 1,
    }
    return [record(tags=["dog|wolf"]), pending, record(THIRD, "approved", caption=odd)]


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
@pytest.mark.parametrize("form", FORMATS)
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


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_of_the_largest_table_stays_within_the_zip_limits(tmp_path, picture_of, form):
    long = [record(f"local-{n}{'a' * 57}", tier) for n, tier in enumerate(("library", "approved", "pending"))]
    destination = tmp_path / "out.zip"
    export(long, lambda _: picture_of(MINT), destination=destination, format=form)
    with zipfile.ZipFile(destination) as archive:
        entries = archive.infolist()
    assert len(entries) <= 2 * len(long) + 1
    assert archives.MAX_ENTRIES >= 2 * MAX_ROWS + 1
    listed = max(46 + len(entry.filename) + len(entry.extra) for entry in entries)  # bytes in the directory
    assert listed * archives.MAX_ENTRIES <= archives.MAX_DIRECTORY


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


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    lead=st.text("'=+-@\t\r\n ＝", max_size=4),
)
@example(text="SUM(A1)", lead="''=")
def test_any_description_survives_a_csv_round_trip(tmp_path_factory, picture_of, text, lead):
    destination = tmp_path_factory.mktemp("csv") / "out"
    export([record(description=lead + text)], picture_of, destination=destination, format="csv")
    assert imported(destination)[MINT].sidecar["description"] == lead + text


def test_an_export_never_overwrites_files(tmp_path, picture_of):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file.zip").write_text("mine")
    for name in ("full", "file.zip", "pictures"):
        with pytest.raises(BadSource, match="already"):
            export(records(), picture_of, destination=tmp_path / name, format="jsonl")
    assert (tmp_path / "full" / "mine.txt").read_text() == (tmp_path / "file.zip").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert export(records(), picture_of, destination=tmp_path / "empty", format="jsonl").done


def test_a_failed_export_leaves_no_files(tmp_path, picture_of):
    def breaking():
        yield record()
        raise RuntimeError("the disk went away")

    for name in ("out", "out.zip"):
        with pytest.raises(RuntimeError):
            export(breaking(), picture_of, destination=tmp_path / "new" / name, format="reference")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_cancelled_export_leaves_no_files(tmp_path, picture_of):
    progress = Progress()

    def cancelling():
        yield record()
        progress.cancel()
        yield record(OTHER)

    exported = export(cancelling(), picture_of, destination=tmp_path / "out", format="csv", progress=progress)
    assert exported.done == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures"]


def test_an_export_reports_progress_and_refuses_records_without_a_picture(tmp_path, picture_of):
    progress = Progress()
    picture_of(OTHER).unlink()
    exported = export(records(), picture_of, destination=tmp_path / "out", format="jsonl", progress=progress)
    assert exported.done == [MINT, THIRD]
    assert [refusal.item for refusal in exported.refused] == [OTHER]
    assert progress.total == 3


def test_an_interrupted_background_export_starts_over(root):
    with open_library(root, embedder=Hashed()) as library:
        coins = approved_with_caption(library, 0, 1)
        job = start(library, [*coins, MINT], format="txt")
        library.jobs.wait(job.id, timeout=60)
        (refused,) = library.jobs.items(job.id, state="refused")
        assert (refused.key, library.jobs.get(job.id).done) == (MINT, 2)
        place = where(library.layout, job)
        assert len(list(candidates([place]))) == 2
        place.unlink()
        (library.layout.exports / ".memedex-export-left").mkdir()
        with library.catalog.writing() as db:  # as if killed in the middle
            db.execute("UPDATE jobs SET state = 'running', done = 0, refused = 0")
            db.execute("UPDATE job_items SET state = 'waiting', reason = ''")
    with open_library(root, embedder=Hashed()) as library:
        assert library.jobs.get(job.id).state == "interrupted"
        library.jobs.resume_interrupted()
        library.jobs.wait(job.id, timeout=60)
        assert list(library.layout.exports.iterdir()) == [place]
        assert len(list(candidates([place]))) == library.jobs.get(job.id).done == 2


def test_the_latest_exports_and_renamed_ones_are_kept(root):
    with open_library(root, embedder=Hashed()) as library:
        coins = approved_with_caption(library, 0)
        places = []
        for number in range(KEPT + 2):
            job = start(library, coins, format="jsonl")
            library.jobs.wait(job.id, timeout=60)
            places.append(where(library.layout, job))
            if number == 0:
                mine = places[0].rename(places[0].with_name("mine.zip"))
        assert {*library.layout.exports.iterdir()} == {mine, *places[-KEPT:]}
        remove(library, job)
        assert {*library.layout.exports.iterdir()} == {mine, *places[-KEPT:-1]}
        reader = open_reader(root)
        with pytest.raises(ReadOnly):
            remove(reader, library.jobs.get(job.id - 1))
        reader.close()
        assert places[-2].exists()


def test_a_reader_can_export_a_few_coins_as_a_zip(root, tmp_path):
    with open_library(root, embedder=Hashed()) as library:
        coins = approved_with_caption(library, 0, 1)
        reader = open_reader(root)
        (tmp_path / "taken.zip").write_bytes(zipped(reader, [*coins, MINT], format="txt", texts="entity"))
        assert {*imported(tmp_path / "taken.zip")} == {*coins}
        with pytest.raises(BadSource, match="at most 2,000"):
            zipped(reader, coins * 1_001, format="txt")
        assert (reader.jobs.all(), library.layout.exports.exists()) == ([], False)
        reader.close()


def test_an_unknown_format_lists_the_known_ones(tmp_path, picture_of):
    with pytest.raises(BadSource, match="reference, jsonl, csv, imagefolder"):
        export(records(), picture_of, destination=tmp_path / "out", format="xlsx")


def test_repeating_an_export_gives_an_identical_zip(tmp_path, picture_of):
    for name in ("a.zip", "b.zip"):
        export(records(), picture_of, destination=tmp_path / name, format="reference")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None


def test_a_plain_csv_keeps_its_apostrophes():
    ((_, row),) = rows_of(b"name,description\n'tis,'quoted'\n", suffix=".csv")
    assert row == {"token_name": "'tis", "description": "'quoted'"}


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


def test_an_export_removes_abandoned_partial_exports_but_not_active_ones(root, tmp_path):
    with open_library(root, embedder=Hashed()) as library:
        coins = approved_with_caption(library, 0)
        exports = library.layout.exports
        exports.mkdir(parents=True)
        killed = exports / ".memedex-export-killed"
        killed.mkdir()
        with appearing(exports / "mine.zip") as place:  # as if another process wrote to the same folder
            place.write("a.txt", b"a")
            job = start(library, coins, format="jsonl")
            assert library.jobs.wait(job.id, timeout=60)
            assert not killed.exists()
            assert len([path for path in exports.iterdir() if path.is_dir()]) == 1
        assert sorted(path.suffix for path in exports.iterdir()) == [".zip", ".zip"]
