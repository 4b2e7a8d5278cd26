"""Who may change a library, and who may only read it."""

import ast
from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from store.captions.caption_text import Replacement
from store.catalog.filters import Filter
from store.catalog.history import AuditFilter
from store.embedding.active_model import KeptVectors
from store.errors import ReadOnly
from store.evaluation import evaluation
from store.library import Library
from store.maintenance import doctor
from store.permissions import Actor, may_change, may_view
from store.progress import Progress
from store.runtime import open_library, open_reader
from store.search.query import Part, Query, SavedSearch
from store.settings import settings
from tests.store.conftest import address, coin, picture, written
from tests.store.every_verb import outcome_of, parts, stored, verbs
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")

ROOT = Path(__file__).resolve().parent.parent.parent
READING_SAYS_WHO = ("Drafts.own", "Library.to_undo")
FIRST, SECOND, THIRD = address(0), address(1), address(2)


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    settings.cache_clear()
    yield monkeypatch
    settings.cache_clear()


@pytest.mark.parametrize(
    ("viewers", "curators", "may"),
    [
        ("", "", True),
        ("eve@x.org", "", True),
        ("eve@x.org, Ann@x.org", "", False),
        ("", "bob@x.org", False),
        ("", "bob@x.org,ann@X.org", True),
        ("ann@x.org", "ann@x.org", False),
    ],
)
def test_viewers_and_curators_settings_decide_who_may_change_things(
    setting: pytest.MonkeyPatch, viewers: str, curators: str, may: bool
) -> None:
    setting.setenv("MEMEDEX_VIEWERS", viewers)
    setting.setenv("MEMEDEX_CURATORS", curators)
    assert may_change("ann@x.org") is may


@pytest.mark.parametrize(
    ("claims", "may", "sees"),
    [
        ({"groups": ["Curators", "staff"]}, True, True),
        ({"groups": "curators"}, True, True),
        ({"hd": "x.org", "groups": ["curators"]}, False, True),
        ({"groups": ["admins"]}, False, True),
        ({"groups": ["curator"], "name": "groups=curators"}, False, False),
        ({"Groups": {"curators": 1}, "roles": ["curators"]}, False, False),
        ({}, False, False),
    ],
)
def test_claims_of_a_login_stand_on_the_lists(
    setting: pytest.MonkeyPatch, claims: dict[str, object], may: bool, sees: bool
) -> None:
    setting.setenv("MEMEDEX_VIEWERS", "hd = x.org")
    setting.setenv("MEMEDEX_CURATORS", "groups=curators, bob@x.org")
    setting.setenv("MEMEDEX_ADMINISTRATORS", "groups=admins")
    assert may_change("ann@x.org", claims) is may
    assert Actor("ann@x.org", claims=claims).can_write is may
    assert may_view("ann@x.org", claims) is sees


def test_every_change_is_recorded_under_its_actor(library: Library) -> None:
    ann, bob = library.for_actor(Actor("ann")), library.for_actor(Actor("bob"))
    ann.add([coin(0)])
    bob.approve([FIRST])
    bob.edit_tags([FIRST], add=["moon"])
    assert [decision.actor for decision in library.decisions()] == ["bob", "bob", "ann"]
    bob.undo()
    assert library.get(FIRST).tags == ["dog"]
    bob.drafts.save(FIRST, {"entity": "typed"})
    assert [draft.actor for draft in library.drafts.of(FIRST)] == ["bob"]
    assert ann.drafts.own(FIRST) is None


def test_actors_share_one_library(library: Library) -> None:
    ann, bob = library.for_actor(Actor("ann")), library.for_actor(Actor("bob"))
    ann.add([coin(0)])
    with bob.for_actor(Actor("eve")):
        pass  # leaving the block closes nothing
    ann.close()
    assert bob.get(FIRST).tier == "pending"
    assert ann.taxonomy is bob.taxonomy
    assert ann.jobs.get(bob.jobs.run("Add", lambda _: 1).id) is not None


@pytest.fixture
def stocked(library: Library) -> Library:
    """A library that contains something of every kind."""
    library.add(coin(number) for number in range(6))
    library.approve([SECOND, *(address(number) for number in range(3, 6))])
    for number in range(3, 6):
        library.caption(address(number), caption=written(f"text {number}"))
    library.promote([address(number) for number in range(3, 6)])
    library.reject([THIRD], reason="a copy")
    library.approve([FIRST])
    library.undo()
    library.drafts.save(FIRST, {"entity": "typed"})
    library.golden.save("a frog", [FIRST, address(4)])
    library.golden.judge("a frog", FIRST, True)
    library.filters.save("dogs", "tag:dog")
    library.filters.save("cats", "tag:cat")
    library.filters.delete("cats")
    library.searches.save("dogs", SavedSearch("dog"))
    library.suggestions.save(FIRST, {"entity": "a dog"}, model="a model")
    library.samples.store(picture(5))
    with library.catalog.writing() as db:
        db.execute("INSERT INTO vectors VALUES ('key', 'another model', x'00')")
    library.jobs.wait(library.jobs.run("Add", lambda _: 1).id, timeout=60)
    library.check_chroma()  # the catalog records this once
    return library


@pytest.fixture
def arguments(stocked: Library, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The arguments for calling every verb."""
    (removed,), last = stocked.removed.all(), stocked.decisions()[0]
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "coin.json").write_text("{}")
    captioned = stocked.get(address(4))
    replacement = Replacement(captioned.address, captioned.revision, "entity", "text 4 entity", "other words")
    values = {"caption": {"entity": "other words"}, "tags": None, "revision": captioned.revision}
    with stocked.catalog.reading() as db:
        query = Query((Part(text="a frog"),))
        yield {
            "address": FIRST, "addresses": [FIRST], "answers": [SECOND], "candidates": [coin(7)],
            "caption": written("new"), "collection": "own", "content": picture(7), "db": db,
            "decision": "a new decision", "decisions": [last.id], "digest": "0" * 64,
            "embedder": Hashed(dimensions=8), "entries": {"dog": "animals", "hat": "clothes"},
            "facet": "entity", "field": "holders", "fields": {"entity": "more"}, "filter": Filter(),
            "folder": inbox,
            "generation": 0, "good": False, "id": "0123456789", "ids": [1], "job": 1,
            "image_hash": captioned.image_hash,
            "key": "model", "keys": [FIRST],
            "kind": "move", "limit": 5, "line": "a frog", "model": "another model", "moment": 0.0,
            "name": "dogs", "number": 1, "options": {}, "order": "approved", "others": [SECOND],
            "picture": picture(7),
            "progress": Progress(), "query": query, "records": [captioned], "removed": removed,
            "sample": "diverse", "space": "image", "state": "taken",
            "target": tmp_path / "copy.sqlite3", "text": "a frog",
            "sql": "SELECT 1", "texts": {"entity": "x"}, "thread": 0, "unfit": True,
            "thing": "tag:dog", "ticker": "C1", "value": "x", "verb": "approve", "verdict": "different",
            "captions": {captioned.address: values}, "actor": "eve", "reason": "repair", "words": "frog",
            "at": 0.0, "by": "ann", "DecisionLog.find.filter": AuditFilter(),
            "DecisionLog.count.filter": AuditFilter(), "answer": "", "work": lambda _: 0,
            "GoldenQueries.delete.line": "a frog", "GoldenQueries.restore.line": "a cat",
            "GoldenQueries.restore.value": {"answers": [FIRST], "collection": "own", "who": "ann"},
            "GoldenQueries.import_content.content": b'{"queries": []}',
            "Trash.empty.expected": 9, "Library.use_kept_vectors.model": KeptVectors("another model", 8),
            "Library.approve.addresses": [FIRST], "Library.degrade.addresses": [address(4)],
            "Library.edit_tags.add": ["moon"], "Library.send_back.addresses": [SECOND],
            "Library.labels.kind": "tag", "Library.replace.replacements": [replacement],
            "Library.exact_matches.texts": ["dog"],
            "Library.restore.addresses": [THIRD], "Prompts.get.name": "caption",
            "Prompts.store.name": "caption", "Prompts.versions.name": "caption",
            "SavedSearches.save.thing": SavedSearch("x"),
            "SavedSearches.restore.name": "mice", "NamedValues.restore.name": "mice",
        }  # fmt: skip


def takes_actor(verb: Callable[..., Any]) -> bool:
    return not isinstance(verb, partial) and "actor" in signature(verb).parameters


def test_a_viewer_cannot_change_anything(
    stocked: Library, arguments: dict[str, Any], setting: pytest.MonkeyPatch
) -> None:
    setting.setenv("MEMEDEX_VIEWERS", "eve")
    settings.cache_clear()
    eve, before = stocked.for_actor(Actor("eve")), stored(stocked.layout.root)
    assert not eve.can_write
    for _, part in parts(eve):
        for name, verb in verbs(part):
            if outcome_of(name, verb, arguments) != "ReadOnly":
                assert stored(stocked.layout.root) == before, f"{name} changes something for a viewer"
                assert name in READING_SAYS_WHO or not takes_actor(verb), f"{name} says who does it to nobody"
    assert stored(stocked.layout.root) == before


# These reveal nothing about the library's content, or work on the connection of an open transaction.
ANSWERS_ALWAYS = {
    "Calibrations.scale", "Catalog.can_write", "Catalog.close", "Catalog.interrupt", "Catalog.is_in_place",
    "Catalog.lock", "GoldenQueries.restore", "Library.can_write", "Library.close", "Library.embedder",
    "Library.model", "Library.reading_vectors", "Library.wait_for_chroma", "Library.follow_chroma",
    "Library.actor_name", "DeletedItems.can_restore", "SavedSearches.noun",
    "SavedSearches.restore",
    "NamedValues.noun", "NamedValues.restore", "PictureTexts.missing_reader",
}  # fmt: skip


def test_nothing_can_be_read_or_changed_after_the_login_ended(
    stocked: Library, arguments: dict[str, Any]
) -> None:
    gone = stocked.for_actor(Actor("ann", is_logged_in=lambda: False))
    before = stored(stocked.layout.root)
    for _, part in parts(gone):
        for name, verb in verbs(part):
            assert name in ANSWERS_ALWAYS or outcome_of(name, verb, arguments) == "LoginEnded", name
    assert stored(stocked.layout.root) == before


def test_a_library_opened_for_reading_refuses_every_change(
    stocked: Library, arguments: dict[str, Any]
) -> None:
    before = stored(stocked.layout.root)
    with open_reader(stocked.layout.root, embedder=Hashed()) as reader:
        ann = reader.for_actor(Actor("ann"))
        assert not ann.can_write
        for verb in (ann.approve, ann.delete, ann.promote):
            with pytest.raises(ReadOnly, match="ann may look at this library"):
                verb([FIRST])
        for _, part in parts(ann):
            for name, verb in verbs(part):
                if outcome_of(name, verb, arguments) != "ReadOnly":
                    assert name in READING_SAYS_WHO or not takes_actor(verb), name
    assert stored(stocked.layout.root) == before


def test_a_viewer_cannot_repair_or_store_an_evaluation(stocked: Library, setting: pytest.MonkeyPatch) -> None:
    setting.setenv("MEMEDEX_CURATORS", "ann")
    settings.cache_clear()
    eve, before = stocked.for_actor(Actor("eve")), stored(stocked.layout.root)
    found = evaluation.evaluate(stocked, presets={"entity": {"entity": 1}})
    for change in (lambda: doctor.repair(eve), lambda: evaluation.store(eve, found, actor="eve")):
        with pytest.raises(ReadOnly, match="eve may look"):
            change()
    assert stored(stocked.layout.root) == before


DATABASES = (
    "store/disk/sqlite.py",
    "store/catalog/catalog.py",
    "store/memory/engine/database.py",
    "store/memory/engine/retrievals.py",
)
# These open or close the connection, or say whether there is one.
NOT_WRITING = {
    "__init__",
    "_connect_to_read",  # only asks whether there is a writer
    "_open_to_write",
    "_prepare",
    "close",
    "leave_to_parent",
    "can_write",
    "check_writable",
    "_is_replica",
    "_writer",
}


@pytest.mark.parametrize("folder", ["store", "components", "pages"])
def test_only_database_modules_use_a_writable_connection(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("_writer", "_connections", "query_only"):
                assert path.relative_to(ROOT).as_posix() in DATABASES, f"{path}:{node.lineno}"


@pytest.mark.parametrize("database", DATABASES)
def test_every_writing_method_checks_permission_first(database: str) -> None:
    for function in ast.walk(ast.parse((ROOT / database).read_text("utf-8"))):
        if isinstance(function, ast.FunctionDef) and function.name not in NOT_WRITING:
            used = [node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)]
            if {"_writer", "writer"}.intersection(used):
                assert "check_writable" in used, f"{database}: {function.name} writes unasked"


def test_a_read_only_library_cannot_be_opened_for_writing(
    library: Library, setting: pytest.MonkeyPatch
) -> None:
    library.add([coin(0)])
    setting.setenv("MEMEDEX_READ_ONLY", "1")
    settings.cache_clear()
    with pytest.raises(ReadOnly, match="MEMEDEX_READ_ONLY"):
        open_library(library.layout.root)
    with open_reader(library.layout.root) as reader:
        assert reader.get(FIRST).tier == "pending"
