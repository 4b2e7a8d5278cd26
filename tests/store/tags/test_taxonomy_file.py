"""Edits of the taxonomy keep each other, and undo takes back one of them alone."""

import threading

import pytest

from store.library import Library
from store.tags import taxonomy_file


def test_undo_of_one_of_two_edits_at_once_keeps_the_other(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = taxonomy_file._text
    other = threading.Thread(
        target=library.edit_taxonomy, args=({"dog": "animals"},), kwargs={"decision": "other"}
    )

    def read_slowly(*of: object) -> str:
        text = read(library.catalog, library.layout)
        if other.ident is None:
            other.start()
            other.join(0.3)  # long enough for the whole edit, if it did not wait
        return text

    monkeypatch.setattr(taxonomy_file, "_text", read_slowly)
    library.edit_taxonomy({"moon": "space"}, decision="first")
    other.join()
    with library.catalog.reading() as db:
        (first, second) = db.execute("SELECT before, after FROM taxonomies ORDER BY number").fetchall()
    assert second["before"] == first["after"]
    library.undo()
    assert library.taxonomy.tags == ["moon"]
