"""What an export contains, never overwrites, and leaves when it fails."""

import pytest

from store.errors import BadSource
from store.exporting import export
from store.progress import Progress
from tests.store.exporting.coins import MINT, OTHER, THIRD, record, records

pytestmark = pytest.mark.usefixtures("without_chroma")


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


def test_an_unknown_format_lists_the_known_ones(tmp_path, picture_of):
    with pytest.raises(BadSource, match="reference, jsonl, csv, imagefolder"):
        export(records(), picture_of, destination=tmp_path / "out", format="xlsx")
