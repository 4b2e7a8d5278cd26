"""Deleted searches, filters, weights and golden queries are recorded and can be restored."""

import json
from pathlib import Path

import pytest

from store.errors import InvalidRecord, ReadOnly
from store.library import Library
from store.permissions import Actor
from store.search.query import SavedSearch
from store.settings import settings
from tests.store.conftest import address

pytestmark = pytest.mark.usefixtures("without_chroma")


def noted(library: Library) -> list[tuple[str, str, str]]:
    return [(one.actor, one.what, one.name) for one in library.removed.all()]


def test_a_saved_search_is_restored_with_all_its_settings(library: Library) -> None:
    library.searches.save("frogs", SavedSearch("frog", {"entity": 4.0}, calibrated=True, shown=30))
    before = library.searches.all()
    library.for_actor(Actor("ann")).searches.delete("frogs")
    assert library.searches.all() == {}
    assert noted(library) == [("ann", "search", "frogs")]
    library.for_actor(Actor("ben")).removed.restore(library.removed.all()[0].id)
    assert library.searches.all() == before
    (one,) = library.removed.all()
    assert (one.actor, one.restored_by) == ("ann", "ben")
    assert one.removed_at <= one.restored_at
    with pytest.raises(InvalidRecord, match="already"):
        library.removed.restore(one.id)


def test_a_filter_and_a_preset_of_the_same_name_are_restored(library: Library) -> None:
    library.filters.save("dogs", "tag:dog")
    library.presets.save("dogs", {"entity": 1.0})
    filters, presets = library.filters.all(), library.presets.all()
    library.filters.delete("dogs")
    library.presets.delete("dogs")
    library.presets.delete("never there")
    assert [one.what for one in library.removed.all()] == ["preset", "filter"]
    for one in library.removed.all():
        library.removed.restore(one.id)
    assert (library.filters.all(), library.presets.all()) == (filters, presets)


def test_restoring_does_not_replace_a_newer_filter_of_the_same_name(library: Library) -> None:
    library.filters.save("dogs", "tag:dog")
    library.filters.delete("dogs")
    library.filters.save("dogs", "tag:cat")
    with pytest.raises(InvalidRecord, match="a filter dogs exists"):
        library.removed.restore(library.removed.all()[0].id)
    assert library.filters.all() == {"dogs": "tag:cat"}
    assert not library.removed.all()[0].restored_at


def in_file(library: Library) -> list[str]:
    content = json.loads((library.layout.golden / "own.json").read_bytes())
    return [one["line"] for one in content["queries"]]


def test_a_golden_query_is_restored_in_the_catalog_and_in_its_file(library: Library) -> None:
    library.golden.save("frog", [address(1), address(2)], actor="ann")
    library.golden.delete("frog", actor="ben")
    assert in_file(library) == []
    assert noted(library) == [("ben", "golden query", "frog")]
    library.removed.restore(library.removed.all()[0].id)
    (one,) = library.golden.all()
    assert (one.line, one.answers, one.actor) == ("frog", (address(1), address(2)), "ann")
    assert in_file(library) == ["frog"]


def test_a_golden_query_missing_from_an_edited_file_is_recorded_as_removed(
    library: Library, root: Path
) -> None:
    library.golden.save("frog", [address(1)])
    library.golden.save("rain", [address(2)])
    library.golden.import_content(
        "own", b'{"queries": [{"line": "frog", "answers": ["%s"]}]}' % address(1).encode()
    )
    assert noted(library) == [("file", "golden query", "rain")]


def test_a_viewer_cannot_restore_anything(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.filters.save("dogs", "tag:dog")
    library.filters.delete("dogs")
    monkeypatch.setenv("MEMEDEX_VIEWERS", "vera")
    settings.cache_clear()
    vera = library.for_actor(Actor("vera"))
    (one,) = vera.removed.all()
    with pytest.raises(ReadOnly):
        vera.removed.restore(one.id)
    settings.cache_clear()
