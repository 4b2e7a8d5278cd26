"""Every earlier text of a caption: its author, its model, and how to restore it."""

import sqlite3
from pathlib import Path

import pytest

from store.captions.caption_text import ReplaceRequest, replacements
from store.captions.revisions import authors
from store.disk.files import Disk
from store.disk.layout import Layout
from store.library import Library
from store.operations import CaptionSource
from store.runtime import open_library
from store.writing.salvage import salvage
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")
FIRST = address(0)


def test_each_save_is_a_revision_with_its_actor_and_model(library: Library) -> None:
    library.add([coin(0)], actor="seed")
    library.caption(FIRST, caption={"entity": "a dog", "context": "to the moon"}, actor="ann")
    drafted = {
        "entity": CaptionSource("gpt", "caption 3"),
        "visual": CaptionSource("gpt", "caption 3", edited=True),
    }
    library.caption(
        FIRST, caption={"entity": "a golden dog", "visual": "pixels"}, sources=drafted, actor="bob"
    )
    library.approve([FIRST], actor="ann")
    newest, middle, oldest = library.revisions(FIRST)
    assert (newest.event.actor, middle.event.actor, oldest.event.verb) == ("bob", "ann", "import")
    assert newest.before.caption == {"entity": "a dog", "context": "to the moon"}
    assert newest.after.caption["visual"] == "pixels"
    assert newest.sources == drafted
    assert middle.sources == {}


def test_a_text_keeps_its_author_after_it_is_removed_and_restored(library: Library) -> None:
    library.add([coin(0)])
    library.caption(
        FIRST, caption={"entity": "a dog on the moon"}, sources={"entity": CaptionSource("gpt")}, actor="ann"
    )
    library.caption(FIRST, caption={"entity": "whatever", "context": ""}, actor="bob")
    library.undo(actor="bob")
    library.caption(FIRST, caption={"entity": "a dog", "context": ""}, actor="bob")
    library.caption(FIRST, caption={"entity": "a dog on the moon"}, actor="bob")  # restored
    revisions = library.revisions(FIRST)
    wrote = authors(revisions, library.get(FIRST).caption)
    assert (wrote["entity"].event.actor, wrote["entity"].sources) == ("ann", {"entity": CaptionSource("gpt")})
    assert wrote["context"] == revisions[1], "the second time that this was said"
    assert revisions[0].sources == {"entity": CaptionSource("gpt")}


def test_an_edited_text_keeps_its_model_and_a_rewritten_one_gets_its_author(library: Library) -> None:
    library.add([coin(0)])
    library.caption(FIRST, caption={"entity": "a dog on the moon", "context": "to the moon"}, actor="ann")
    drafted = {"entity": "a golden dog on a crescent", "context": "plays on the doge meme"}
    sources = {"entity": CaptionSource("gpt", "caption v1"), "context": CaptionSource("gpt", "caption v1")}
    library.caption(FIRST, caption=drafted, sources=sources, actor="ann")  # type: ignore[arg-type]
    (found,) = replacements(library.records([FIRST]), ReplaceRequest("golden", "yellow", ("entity",)))
    library.replace([found], actor="bob")
    library.caption(FIRST, caption={"context": "nobody knows"}, actor="bob")
    wrote = authors(library.revisions(FIRST), library.get(FIRST).caption)
    assert wrote["entity"].sources == {"entity": CaptionSource("gpt", "caption v1", edited=True)}
    assert (wrote["context"].event.actor, wrote["context"].sources) == ("bob", {})


def test_an_empty_facet_differs_from_an_unwritten_one(library: Library) -> None:
    library.add([coin(0)])
    library.approve([FIRST])
    library.caption(FIRST, caption={"entity": "a dog", "context": "moon", "visual": ""})
    assert library.get(FIRST).caption == {"entity": "a dog", "context": "moon", "visual": ""}
    library.promote([FIRST])
    assert sorted(library.embedded_facets(FIRST)) == ["context", "entity", "image"]
    library.caption(FIRST, caption={"visual": None})
    assert "visual" not in library.get(FIRST).sidecar["caption"]
    assert len(library.revisions(FIRST)) == 3, "the import brought tags; promoting wrote nothing"


def test_caption_sources_survive_a_crash_and_a_salvage(root: Path) -> None:
    with open_library(root, embedder=Hashed(), disk=Disk()) as library:
        library.add([coin(0)])
        library.caption(FIRST, caption={"entity": "a dog"}, sources={"entity": CaptionSource("gpt", "p 1")})
    salvage(Layout(root))
    with open_library(root, embedder=Hashed()) as library:
        assert library.revisions(FIRST)[0].sources == {"entity": CaptionSource("gpt", "p 1")}


def test_a_draft_from_an_older_catalog_keeps_its_author(root: Path) -> None:
    path = Layout(root).catalog
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.executescript((Path(__file__).parent.parent / "catalog" / "catalog-v1.sql").read_text())
        db.execute("INSERT INTO drafts VALUES (?, ?, ?, ?)", [FIRST, '{"entity": "half a"}', "ann", 1.0])
    with open_library(root, embedder=Hashed()) as library:
        assert library.drafts.own(FIRST, actor="ann") == {"entity": "half a"}
        assert library.drafts.own(FIRST, actor="bob") is None
