"""Exports in the background, and as a zip for a reader."""

import pytest

from store.errors import BadSource, ReadOnly
from store.exporting.formats import staged_target
from store.importing import candidates
from store.runtime import open_library, open_reader
from store.tasks.export import KEPT, remove, start, zipped
from store.tasks.export import destination as where
from tests.store.conftest import approved_with_caption
from tests.store.exporting.coins import MINT, imported
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")


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


def test_an_export_removes_abandoned_partial_exports_but_not_active_ones(root, tmp_path):
    with open_library(root, embedder=Hashed()) as library:
        coins = approved_with_caption(library, 0)
        exports = library.layout.exports
        exports.mkdir(parents=True)
        killed = exports / ".memedex-export-killed"
        killed.mkdir()
        with staged_target(exports / "mine.zip") as place:  # as if another process wrote to the same folder
            place.write("a.txt", b"a")
            job = start(library, coins, format="jsonl")
            assert library.jobs.wait(job.id, timeout=60)
            assert not killed.exists()
            assert len([path for path in exports.iterdir() if path.is_dir()]) == 1
        assert sorted(path.suffix for path in exports.iterdir()) == [".zip", ".zip"]
