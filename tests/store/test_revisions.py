"""Every text a caption ever had: who wrote it, with which model, and the way back."""

import sqlite3
from pathlib import Path

from store.files import Disk
from store.layout import Layout
from store.library import Library
from store.operations import Source
from store.revisions import authors
from store.salvage import salvage
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

FIRST = address(0)


def test_each_save_is_a_revision_with_who_and_by_which_model(library: Library) -> None:
    library.add([coin(0)], who="seed")
    library.caption(FIRST, caption={"entity": "a dog", "context": "to the moon"}, who="ann")
    drafted = {"entity": Source("gpt", "caption 3"), "visual": Source("gpt", "caption 3", edited=True)}
    library.caption(FIRST, caption={"entity": "a golden dog", "visual": "pixels"}, sources=drafted, who="bob")
    library.approve([FIRST], who="ann")
    newest, middle, oldest = library.revisions(FIRST)
    assert (newest.event.who, middle.event.who, oldest.event.verb) == ("bob", "ann", "import")
    assert newest.before.caption == {"entity": "a dog", "context": "to the moon"}
    assert newest.after.caption["visual"] == "pixels"
    assert newest.sources == drafted
    assert middle.sources == {}


def test_a_text_belongs_to_whoever_brought_it_last(library: Library) -> None:
    library.add([coin(0)])
    library.caption(FIRST, caption={"entity": "a dog", "context": "moon"}, who="ann")
    library.caption(FIRST, caption={"entity": "a cat"}, who="bob")
    library.undo(who="bob")
    library.caption(FIRST, caption={"context": "the moon"}, sources={"context": Source("gpt")}, who="bob")
    wrote = authors(library.revisions(FIRST), library.get(FIRST).caption)
    assert wrote["entity"].event.verb == "undo"
    assert wrote["context"].sources["context"].model == "gpt"


def test_nothing_to_say_is_not_the_same_as_not_yet_written(library: Library) -> None:
    library.add([coin(0)])
    library.approve([FIRST])
    library.caption(FIRST, caption={"entity": "a dog", "context": "moon", "visual": ""})
    assert library.get(FIRST).caption == {"entity": "a dog", "context": "moon", "visual": ""}
    library.promote([FIRST])
    assert sorted(library.embedded_facets(FIRST)) == ["context", "entity", "image"]
    library.caption(FIRST, caption={"visual": None})
    assert "visual" not in library.get(FIRST).sidecar["caption"]
    assert len(library.revisions(FIRST)) == 3, "the import brought tags; promoting wrote nothing"


def test_what_a_model_wrote_is_still_known_after_a_crash_and_after_a_salvage(root: Path) -> None:
    with Library.open(root, embedder=Hashed(), disk=Disk()) as library:
        library.add([coin(0)])
        library.caption(FIRST, caption={"entity": "a dog"}, sources={"entity": Source("gpt", "p 1")})
    salvage(Layout(root))
    with Library.open(root, embedder=Hashed()) as library:
        assert library.revisions(FIRST)[0].sources == {"entity": Source("gpt", "p 1")}


def test_a_draft_of_an_older_catalog_stays_with_whoever_typed_it(root: Path) -> None:
    path = Layout(root).catalog
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.executescript((Path(__file__).parent / "catalog-v1.sql").read_text())
        db.execute("INSERT INTO drafts VALUES (?, ?, ?, ?)", [FIRST, '{"entity": "half a"}', "ann", 1.0])
    with Library.open(root, embedder=Hashed()) as library:
        assert library.draft(FIRST, who="ann") == {"entity": "half a"}
        assert library.draft(FIRST, who="bob") is None
