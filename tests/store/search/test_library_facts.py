"""Counts and mean vectors of the library follow its changes without reading it again."""

import numpy as np
import pytest

from store.library import Library
from store.search.resident import NAME, LibraryFacts, LibraryFactsReader
from tests.store.conftest import address, approved_with_caption

pytestmark = pytest.mark.usefixtures("without_chroma")


def reader(library: Library) -> LibraryFactsReader:
    return LibraryFactsReader(library.catalog, library.layout, library._model, library._disk)


def agrees(facts: LibraryFacts, library: Library) -> None:
    snapshot = library.snapshot()
    assert len(facts) == len(snapshot)
    assert facts.means == pytest.approx(snapshot.means, abs=1e-6, nan_ok=True)
    assert facts.complete == snapshot.present.all(axis=1).tolist()
    assert [facts.without([number]) for number in range(5)] == np.count_nonzero(
        ~snapshot.present, axis=1
    ).tolist()


def test_every_change_is_followed_from_the_vectors_that_changed(library: Library) -> None:
    reading = reader(library)
    agrees(reading.facts(), library)
    library.promote(approved_with_caption(library, *range(6)))
    agrees(reading.facts(), library)
    first = reading.reading
    library.degrade([address(1), address(2)])
    library.caption(address(3), caption={"entity": "another", "emotions": "calm"})
    agrees(reading.facts(), library)
    library.undo()
    agrees(reading.facts(), library)
    assert reading.reading is first, "they were not read again"


def test_a_change_outside_the_library_leaves_the_same_object(library: Library) -> None:
    library.promote(approved_with_caption(library, 1))
    reading = reader(library)
    before = reading.facts()
    approved_with_caption(library, 2)
    after = reading.facts()
    assert after.keys is before.keys


def test_the_file_is_used_by_the_next_process_and_a_damaged_one_is_read_again(library: Library) -> None:
    library.promote(approved_with_caption(library, 1, 2))
    reader(library).facts()
    library.degrade([address(1)])
    again = reader(library)
    agrees(again.facts(), library)
    assert again.reading.total == 0, "the file was brought up to date"
    (library.layout.matrices / NAME).write_bytes(b"no facts")
    agrees(reader(library).facts(), library)


def test_a_deleted_vector_makes_everything_be_read_again(library: Library) -> None:
    library.promote(approved_with_caption(library, 1, 2))
    reading = reader(library)
    reading.facts()
    library.caption(address(1), caption={"entity": "another"})
    with library.catalog.writing() as db:
        db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM embeddings)")
    agrees(reading.facts(), library)
