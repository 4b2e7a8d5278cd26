"""The table of tags: what is typed there, coins that follow an edited file, and a viewer."""

import pytest

from components.review import tags
from components.shell.page import forms
from store.catalog.filters import Filter
from store.errors import InvalidRecord
from store.library import Library
from store.tasks import tags as tags_task
from tests.pages.conftest import finish_jobs, opened, rerun, send, words


def test_coins_are_updated_to_an_edited_taxonomy_file(library: Library) -> None:
    (library.layout.root / "taxonomy.json").write_text('{"dog": "hounds"}')
    behind = len(tags_task.straying(library, library.taxonomy))
    assert behind
    app = send(opened("settings", section="Tags"), "follow-taxonomy")
    finish_jobs()
    assert tags_task.straying(library, library.taxonomy) == []
    assert "do not follow" not in words(rerun(app))


def edited(library: Library, **state: object) -> tags.Changes:
    rows = tags.rows_of(library.tag_counts(Filter()), library.taxonomy)
    return tags.changes(rows, state, library.taxonomy)


def row(library: Library, tag: str) -> int:
    rows = tags.rows_of(library.tag_counts(Filter()), library.taxonomy)
    return next(number for number, one in enumerate(rows) if one["tag"] == tag)


def test_the_table_has_each_tag_once_with_a_link_to_its_coins(library: Library) -> None:
    rows = tags.rows_of(library.tag_counts(Filter()), library.taxonomy)
    names = [one["tag"] for one in rows]
    assert len({name.casefold() for name in names}) == len(names)
    assert {*library.tag_counts(Filter())} | {*library.taxonomy.tags} == {*names}
    [frog] = [one for one in rows if one["tag"] == "frog"]
    assert frog["coins"] == "library?tab=All&library_words=tag%3Afrog#1"
    assert [one["coins"] for one in rows if one["tag"] not in library.tag_counts(Filter())][:1] == [""]


def test_names_that_are_typed_rename_and_merge_and_keep_their_categories(library: Library) -> None:
    typed = {row(library, "frog"): {"tag": " beast "}, row(library, "cat"): {"tag": "beast"}}
    found = edited(library, edited_rows=typed)
    assert found.names == {"frog": "beast", "cat": "beast"}
    assert found.entries["beast"] == library.taxonomy.category("frog")
    assert {"frog", "cat"}.isdisjoint(found.entries)
    assert "frog → beast (merged), cat → beast (merged)" in tags.difference(
        library.taxonomy.entries, found, library.tag_counts(Filter())
    )


def test_deleted_rows_remove_their_tags_from_the_coins_of_every_tier_with_one_undo(library: Library) -> None:
    before = library.tag_counts(Filter())
    [coin] = library.find(Filter(tags=("frog",)))
    library.delete([coin.address])
    found = edited(
        library, deleted_rows=[row(library, "frog")], edited_rows={row(library, "cat"): {"tag": "kitty"}}
    )
    assert found.names == {"cat": "kitty", "frog": ""}
    assert "frog" not in found.entries
    said = tags.difference(library.taxonomy.entries, found, before)
    assert said == "cat → kitty, frog removed"
    affected = tags_task.carrying(library, found.names)
    tags._start(library, found, affected)(forms.Sent({}, "d" * 32))
    finish_jobs()
    assert library.get(coin.address).tags == []
    assert "frog" not in library.taxonomy.tags
    assert "kitty" in library.tag_counts(Filter())
    assert len(library.undo().done) == 2
    assert library.tag_counts(Filter()) == before
    assert "frog" in library.taxonomy.tags


def test_categories_and_rows_change_the_taxonomy_alone(library: Library) -> None:
    found = edited(
        library,
        edited_rows={row(library, "frog"): {"category": "amphibians"}},
        added_rows=[{"tag": "Sunset", "category": "places"}, {"tag": "half"}],
    )
    assert found.names == {}
    assert (found.entries["frog"], found.entries["sunset"]) == ("amphibians", "places")
    assert "half" not in found.entries


def test_a_name_that_no_tag_can_have_is_refused(library: Library) -> None:
    with pytest.raises(InvalidRecord, match="no comma"):
        edited(library, edited_rows={row(library, "frog"): {"tag": "a, b"}})
