"""The vectors in memory follow the catalog, also where a record leaves no row that says so."""

import pytest

from store.library import Library
from store.search.query import Part, Query
from tests.store.conftest import address, approved_with_caption

FIRST, SECOND = address(0), address(1)

pytestmark = pytest.mark.usefixtures("without_chroma")


def found(library: Library) -> set[str]:
    return {hit.address for hit in library.search(Query((Part(text="text"),))).hits}


def test_a_coin_whose_files_were_removed_is_found_no_more(library: Library) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    assert found(library) == {FIRST, SECOND}
    library.layout.sidecar("library", FIRST).unlink()
    library.layout.image("library", FIRST).unlink()
    library.apply_external_edits()
    assert found(library) == {SECOND}


def test_a_coin_that_left_and_was_deleted_for_good_between_two_searches_is_found_no_more(
    library: Library,
) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    assert found(library) == {FIRST, SECOND}
    library.delete([FIRST])
    library.trash.empty(expected=1)
    assert found(library) == {SECOND}


def test_a_coin_that_was_removed_and_came_back_is_found(library: Library) -> None:
    addresses = approved_with_caption(library, 0, 1)
    library.promote(addresses)
    assert found(library) == {FIRST, SECOND}
    sidecar, image = library.layout.sidecar("library", FIRST), library.layout.image("library", FIRST)
    kept = sidecar.read_bytes(), image.read_bytes()
    sidecar.unlink()
    image.unlink()
    library.apply_external_edits()
    sidecar.write_bytes(kept[0])
    image.write_bytes(kept[1])
    library.apply_external_edits()
    library.embed_all(library.embedder, progress=library.reading_vectors)
    assert found(library) == {FIRST, SECOND}


def test_what_waits_for_vectors_is_known_from_memory(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    found(library)

    def all_of_them(_: object) -> int:
        raise AssertionError("counted in the catalog")

    monkeypatch.setattr("store.catalog.rows.without_vectors", all_of_them)
    assert library.waiting_for_vectors() == ""
