"""Edits of the taxonomy keep each other, and undo takes back one of them alone."""

import threading
from pathlib import Path

import pytest

from store.cli import main
from store.disk.layout import Layout
from store.embedding import open_embedder
from store.library import Library
from store.runtime import open_library
from store.tags import taxonomy_file
from tests.store.conftest import coin


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


@pytest.mark.usefixtures("without_chroma")
@pytest.mark.parametrize("content", [b"{", b"\xff\xfe{}", b'{"dog": 7}', b""])
def test_a_broken_file_is_named_set_aside_and_written_as_it_was_decided(
    content: bytes, quick_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = Layout(quick_root)
    with open_library(quick_root, embedder=open_embedder("offline")) as library:
        library.add([coin(0)])
        library.edit_taxonomy({"dog": "animals", "moon": "space"}, decision="first")
    layout.own_taxonomy.write_bytes(content)
    assert main(["--root", str(quick_root), "doctor"]) == 1
    assert str(layout.own_taxonomy) in capsys.readouterr().err
    assert main(["--root", str(quick_root), "doctor", "--repair"]) == 0
    assert main(["--root", str(quick_root), "doctor"]) == 0
    with open_library(quick_root, embedder=open_embedder("offline")) as library:
        assert library.taxonomy.entries == {"dog": "animals", "moon": "space"}
        [aside] = library.moved_aside()
        assert (aside.place / layout.own_taxonomy.name).read_bytes() == content
