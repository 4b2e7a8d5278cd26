"""Verbs that write: captions, drafts and tags."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from store.catalog import filter_syntax, record_queries
from store.catalog.filters import Filter
from store.importing import candidates
from store.importing.candidate import Candidate, RemoteLogo
from store.library import Library
from store.operations import Operation
from store.outcome import Outcome
from store.records import CAPTION_FACETS
from store.search.query import Part, Query
from store.writing.edits import compared
from store.writing.journal import CHANGED_MEANWHILE, Payload
from tests.store.conftest import address, coin, create_in_tier, picture, written
from tests.store.invariants import holds

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma")


def test_caption_changes_only_the_given_facets(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.caption(FIRST, caption={"visual": "", "emotions": "calm", "context": None})
    assert library.get(FIRST).caption == {"entity": "text 0 entity", "visual": "", "emotions": "calm"}
    assert "context" not in json.loads(library.layout.sidecar("approved", FIRST).read_text())["caption"]
    holds(library)


def test_caption_refuses_to_empty_a_required_facet_in_the_library(library: Library) -> None:
    create_in_tier(library, "library", 0)
    outcome = library.caption(FIRST, caption={"entity": ""})
    assert "caption.entity is empty" in outcome.refused[0].reason
    assert library.get(FIRST).caption == written("text 0")


def test_a_new_caption_is_searchable_immediately(library: Library) -> None:
    create_in_tier(library, "library", 0, 1)
    library.caption(FIRST, caption={"entity": "a violet zeppelin"})
    assert library.addresses(Filter(words="zepp")) == [FIRST]
    assert library.search(Query((Part(text="a violet zeppelin"),))).hits[0].address == FIRST
    assert library.addresses(Filter(words="text 0 entity")) == []


def test_caption_is_refused_when_the_record_changed_meanwhile(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    seen = library.get(FIRST).revision
    library.edit_tags([FIRST], add=["moon"], actor="somebody")
    outcome = library.caption(FIRST, caption=written("mine"), revision=seen)
    assert "another user changed it" in outcome.refused[0].reason
    assert library.caption(FIRST, caption=written("mine"), revision=seen + 1).done == [FIRST]
    assert library.get(FIRST).tags == ["dog", "moon"]


def at_once(*verbs: Callable[[], Outcome]) -> list[Outcome]:
    """Carry out these verbs in threads that begin together."""
    begin = threading.Barrier(len(verbs))

    def carry_out(verb: Callable[[], Outcome]) -> Outcome:
        begin.wait()
        return verb()

    with ThreadPoolExecutor(len(verbs)) as threads:
        return list(threads.map(carry_out, verbs))


def test_twelve_tags_added_to_one_coin_at_once_are_all_added(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    names = [f"tag {number}" for number in range(12)]
    outcomes = at_once(*(partial(library.edit_tags, [FIRST], add=[name]) for name in names))
    assert [(outcome.done, outcome.refused) for outcome in outcomes] == [([FIRST], [])] * 12
    assert sorted(library.get(FIRST).tags) == sorted(["dog", *names])
    assert len({outcome.decision for outcome in outcomes}) == 12, "each is undone by itself"
    holds(library)


def test_different_facets_a_tag_and_a_move_at_once_contradict_nothing(library: Library) -> None:
    create_in_tier(library, "pending", 0)
    facets = [{facet: f"a {facet}"} for facet in CAPTION_FACETS]
    outcomes = at_once(
        *(partial(library.caption, FIRST, caption=facet) for facet in facets),
        partial(library.edit_tags, [FIRST], add=["moon"]),
        partial(library.approve, [FIRST]),
    )
    assert [outcome.done for outcome in outcomes] == [[FIRST]] * 6
    record = library.get(FIRST)
    assert record.caption == {facet: f"a {facet}" for facet in CAPTION_FACETS}
    assert (record.tags, record.tier) == (["dog", "moon"], "approved")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"caption": {"entity": "one"}}, {"caption": {"entity": "two"}}),
        ({"caption": {}, "tags": ["cat"]}, {"caption": {}, "tags": ["moon"]}),
    ],
    ids=["the same facet", "all tags"],
)
def test_two_texts_for_one_thing_are_refused_to_the_second(
    library: Library, first: dict, second: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_in_tier(library, "approved", 0)
    perform = library._journal.perform

    def late(operation: Operation, payload: Payload) -> dict[str, str]:
        monkeypatch.setattr(library._journal, "perform", perform)
        assert library.caption(FIRST, **first).done == [FIRST]
        return perform(operation, payload)

    monkeypatch.setattr(library._journal, "perform", late)
    (refused,) = library.caption(FIRST, **second).refused
    assert refused.reason == CHANGED_MEANWHILE
    record = library.get(FIRST)
    assert record.caption.get("entity") == first["caption"].get("entity", "text 0 entity")
    assert record.tags == first.get("tags", ["dog"])


@pytest.mark.parametrize("caption", [{"sound": "ribbit"}, {"Entity": "a frog", "context": "the moon"}])
def test_a_misspelt_facet_is_refused_by_name_and_nothing_is_written(
    library: Library, caption: dict[Any, str]
) -> None:
    create_in_tier(library, "approved", 0)
    record = library.get(FIRST)
    imported = {FIRST: {"caption": caption, "tags": None, "revision": record.revision}}
    for outcome in (
        library.caption(FIRST, caption=caption),
        library.import_captions(imported, decision="d"),
    ):
        assert outcome.refused[0].reason == (
            f"{next(iter(caption))} is no facet of a caption; these are: entity, context, visual, emotions"
        )
    assert library.get(FIRST) == record


@pytest.mark.parametrize(
    "edit",
    [
        {"add": [""]},
        {"add": [" "]},
        {"remove": [""]},
        {"rename": {"": "x"}},
        {"rename": {"dog": " "}},
        {"add": "moon"},
    ],
    ids=repr,
)
def test_nothing_passes_as_an_empty_tag_or_a_text_as_a_list(library: Library, edit: dict[str, Any]) -> None:
    create_in_tier(library, "approved", 0)
    outcome = library.edit_tags([FIRST], **edit)
    assert (outcome.done, len(outcome.refused)) == ([], 1)
    assert library.get(FIRST).tags == ["dog"]


def test_saving_a_caption_deletes_only_the_users_own_draft(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "half a sen"}, actor="ann")
    library.drafts.save(FIRST, {"entity": "something el"}, actor="bob")
    assert library.drafts.own(FIRST, actor="ann") == {"entity": "half a sen"}
    library.caption(FIRST, caption=written("half a sentence"), actor="ann")
    assert library.drafts.own(FIRST, actor="ann") is None
    assert [(draft.actor, draft.fields["entity"]) for draft in library.drafts.of(FIRST)] == [
        ("bob", "something el")
    ]


def test_a_draft_is_not_saved_when_replaces_returns_false(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "newer"}, actor="ann")
    stays = library.drafts.save(FIRST, {"entity": "older"}, actor="ann", replaces=lambda before: False)
    assert stays == library.drafts.own(FIRST, actor="ann") == {"entity": "newer"}
    assert library.drafts.save(FIRST, {"entity": "bob's"}, actor="bob", replaces=lambda before: False) is None
    assert library.drafts.own(FIRST, actor="bob") == {"entity": "bob's"}


def test_a_draft_replaces_an_unreadable_one(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "before"}, actor="ann")
    with library.catalog.writing() as db:
        db.execute("UPDATE drafts SET fields = '{'")
    assert library.drafts.save(FIRST, {"entity": "typed"}, actor="ann") is None
    assert library.drafts.own(FIRST, actor="ann") == {"entity": "typed"}


def test_tags_get_their_categories_from_the_taxonomy(library: Library) -> None:
    create_in_tier(library, "library", 0, 1)
    outcome = library.edit_tags([FIRST, SECOND], add=["moon", "my own", "dog"], remove=["cat"])
    assert outcome.done == [FIRST, SECOND]
    assert library.get(FIRST).tags == ["dog", "moon", "my own"]
    assert library.get(FIRST).categories == ["animals", "space", "other"]
    assert library.tag_counts(Filter(categories=("space",))) == {"dog": 2, "moon": 2, "my own": 2}
    holds(library)


def test_tag_counts_are_cached_until_the_library_changes(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    count = record_queries.label_counts

    def counting(db: sqlite3.Connection, kind: str, filter: Filter) -> dict[str, int]:
        counted.append(filter)
        return count(db, kind, filter)

    monkeypatch.setattr(record_queries, "label_counts", counting)
    create_in_tier(library, "library", 0, 1)
    before = library.tag_counts(Filter())
    assert library.tag_counts(Filter()) == before
    assert len(counted) == 1
    library.edit_tags([FIRST], add=["entirely new"])
    assert library.tag_counts(Filter()) == {**before, "entirely new": 1}
    library.undo()
    assert library.tag_counts(Filter()) == before
    assert library.category_counts(Filter()) != before


def test_tags_cannot_contain_a_comma(library: Library) -> None:
    library.add([coin(0)])
    assert "comma" in library.edit_tags([FIRST], add=["a,b"]).refused[0].reason
    assert library.get(FIRST).tags == ["dog"]


FIELDS: dict[str, Any] = {
    "ticker": "FROG",
    "description": "A frog.",
    "created_at": 1_714_564_800,
    "decimals": 9,
    "logoURI": "https://frog.example/logo.png",
    "caption": {"entity": "a frog", "context": "the moon"},
    "tags": ["dog", "moon"],
    "unknown": {"kept": True},
}


def bare(number: int, **more: Any) -> Candidate:
    """A coin of which only the picture is known, called by its file."""
    fields = {"token_name": f"frog {number}", "token_address": address(number), **more}
    return Candidate(f"frog {number}.png", fields, picture(number), picture_name=f"frog {number}")


def test_every_field_that_a_coin_lacks_comes_in_with_one_undo(library: Library) -> None:
    library.add([bare(0)])
    before = library.get(FIRST).sidecar
    report = library.add([bare(0, **FIELDS), bare(1)], source="table")
    assert (report.done, report.completed, report.not_taken) == ([SECOND], [FIRST], [])
    sidecar = library.get(FIRST).sidecar
    assert {key: sidecar[key] for key in FIELDS} == FIELDS
    assert sidecar["tags_categories"] == ["animals", "space"]
    assert "created_at_is_import_time" not in sidecar
    holds(library)
    again = library.add([bare(0, **FIELDS)])
    assert (again.completed, again.not_taken, again.decision) == ([], [], None)
    library.undo()
    assert library.get(FIRST).sidecar == before
    assert library.get(SECOND).tier == "trash"


def test_a_name_that_is_only_its_files_gives_way_to_a_real_one(library: Library) -> None:
    library.add([bare(0)])
    report = library.add(
        [Candidate("row", {**bare(0).sidecar, "token_name": "Pepe"}, picture(0), picture_name="frog 0")]
    )
    assert (report.completed, library.get(FIRST).name) == ([FIRST], "Pepe")
    assert library.add([bare(0)]).not_taken == [], "a file's name states nothing"


def test_what_the_coin_has_stays_and_the_report_names_the_verb_that_takes_it(library: Library) -> None:
    library.add([bare(0, **FIELDS)])
    other = {"caption": {"entity": "a toad"}, "tags": ["cat"], "ticker": "TOAD", "created_at": 5}
    before = library.get(FIRST).sidecar
    report = library.add([bare(0, **other)])
    assert library.get(FIRST).sidecar == before
    own, editor = "already there: the coin has its own here", "change it in the coin's JSON file"
    assert sorted(report.notes) == [
        f"not taken: caption.entity of 1 {own}; import-captions takes it",
        f"not taken: created_at of 1 {own}; {editor}",
        f"not taken: tags of 1 {own}; import-captions takes it",
        f"not taken: ticker of 1 {own}; {editor}",
    ]


def test_what_a_person_removed_does_not_come_back_unless_that_was_undone(library: Library) -> None:
    library.add([bare(0, tags=["dog"], caption={"entity": "a frog", "visual": "green"})])
    library.edit_tags([FIRST], remove=["dog"])
    library.caption(FIRST, caption={"entity": None, "visual": ""})
    again = bare(0, tags=["dog"], caption={"entity": "a frog", "visual": "green"})
    report = library.add([again])
    assert report.completed == []
    assert {(one.field, one.reason.partition(";")[0]) for one in report.not_taken} == {
        ("tags", "it was removed here"),
        ("caption.entity", "it was removed here"),
        ("caption.visual", "the coin has its own here"),  # "" is left empty on purpose
    }


def test_an_undone_completion_may_come_in_again(library: Library) -> None:
    library.add([bare(0)])
    library.add([bare(0, tags=["dog"])])
    library.undo()
    assert library.get(FIRST).tags == []
    assert library.add([bare(0, tags=["dog"])]).completed == [FIRST]
    assert library.get(FIRST).tags == ["dog"]


def test_a_rejected_coin_gets_nothing_and_says_which_verb_helps(library: Library) -> None:
    library.add([bare(0)])
    library.reject([FIRST])
    report = library.add([bare(0, tags=["dog"])])
    assert [one.reason for one in report.not_taken] == ["the coin is rejected; restore it first"]
    library.restore([FIRST])
    assert library.add([bare(0, tags=["dog"])]).completed == [FIRST]


def test_a_field_that_was_filled_in_counts_as_lacking(library: Library) -> None:
    library.add([bare(0, filled_in=["token_name", "description"])])
    report = library.add([coin(0)])
    sidecar = library.get(FIRST).sidecar
    assert (report.completed, sidecar["token_name"], sidecar["description"]) == (
        [FIRST],
        "Coin 0",
        "The coin number 0.",
    )
    assert "filled_in" not in sidecar


def test_a_field_that_is_not_valid_refuses_that_coin_alone(library: Library) -> None:
    library.add([bare(0), bare(1)])
    report = library.add([bare(0, caption={"entity": 5}), bare(1, tags=["dog"])])
    assert (report.completed, [one.item for one in report.refused]) == ([SECOND], [FIRST])


def test_a_row_without_a_picture_completes_the_coin_on_its_chain(library: Library, tmp_path: Path) -> None:
    evm = "0x" + "ab" * 20
    library.add([Candidate("evm", {"token_name": "Frog", "token_address": evm, "chainId": 1}, picture(0))])
    rows = [
        {"address": evm, "chainId": "ethereum", "decimals": "18"},
        {"address": evm, "chainId": "bsc", "decimals": "9", "name": "Frog"},
        {"name": "Toad", "image": "https://toad.example/a.png"},
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    report = library.add(candidates([tmp_path / "rows.json"]))
    assert (report.done, report.completed, library.get(evm).sidecar["decimals"]) == ([], [evm], 18)
    assert [refusal.item.partition(" row ")[2] for refusal in report.refused] == ["2 Frog", "3 Toad"]
    toad = report.refused[1]
    assert isinstance(toad, RemoteLogo), "which fetch-logos downloads"
    assert (toad.uri, toad.address[:6]) == ("https://toad.example/a.png", "local-")


def test_a_coin_of_the_library_is_embedded_again_with_what_came_in(library: Library) -> None:
    library.add([bare(0, caption={"entity": "a frog", "context": "the moon"})])
    library.approve([FIRST])
    library.promote([FIRST])
    report = library.add([bare(0, caption={"visual": "green", "entity": "a frog"})])
    assert (report.completed, library.get(FIRST).caption["visual"]) == ([FIRST], "green")
    holds(library)


def test_the_history_is_read_only_for_coins_that_lack_something(library: Library) -> None:
    library.add([bare(0, tags=["dog"])])

    def never() -> list[dict[str, Any]]:
        raise AssertionError

    assert compared(library.get(FIRST), {"tags": ["dog"]}, earlier=never).fields == {}


@pytest.fixture
def said_of(library: Library) -> Library:
    library.add([coin(1), coin(2)])
    return library


def test_comments_stay_in_order_with_who_and_when_also_of_a_rejected_coin(said_of: Library) -> None:
    before = time.time()
    said_of.comment([address(1)], "  looks like a copy\nof Doge  ", actor="ann")
    said_of.reject([address(1)], actor="ben")
    said_of.comment([address(1)], "agreed", actor="ben")
    said = said_of.get(address(1)).comments
    assert [(one["who"], one["text"]) for one in said] == [
        ("ann", "looks like a copy\nof Doge"),
        ("ben", "agreed"),
    ]
    assert all(int(before) <= one["at"] <= time.time() for one in said)
    assert said_of.history(address=address(1), limit=1)[0].verb == "comment"
    assert said_of.get(address(2)).comments == []
    assert "looks like a copy" in json.dumps(said_of.get(address(1)).as_json()), "it leaves with the coin"


def test_a_comment_is_undone_and_an_empty_or_endless_one_is_refused(said_of: Library) -> None:
    said_of.comment([address(1)], "wrong", actor="ann")
    said_of.undo(actor="ann")
    assert said_of.get(address(1)).comments == []
    for text in (" ", "x" * 2_001):
        outcome = said_of.comment([address(1)], text)
        assert "a comment has 1 to 2,000 characters" in outcome.refused[0].reason
    assert said_of.get(address(1)).comments == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("comment:rug", [1]),
        ('comment:"RUG pull"', [1]),
        ("comment:луна", [2]),
        ("comment:*", [1, 2]),
        ("-comment:rug", [2, 3, 4]),
        ("comment:rug comment:луна", []),
        ("comment:12", []),
    ],
)
def test_coins_are_found_by_what_people_said_of_them(said_of: Library, line: str, found: list[int]) -> None:
    said_of.add([coin(3, review_comments="12 rugs"), coin(4, review_comments=["rug", 12, None])])
    said_of.comment([address(1)], "A Rug pull", actor="ann")
    said_of.comment([address(2)], "Луна", actor="ann")
    passing = said_of.find(filter_syntax.parsed(line).filter)
    assert sorted(record.address for record in passing) == sorted(map(address, found))
    said_of.undo(actor="ann")
    assert address(2) not in said_of.addresses(filter_syntax.parsed("comment:луна").filter)


def test_a_comment_stands_in_the_history_as_it_was_written(said_of: Library) -> None:
    said_of.comment([address(1)], " a copy, *see* X ", actor="ann")
    event = said_of.history(address=address(1), limit=1)[0]
    assert (event.verb, event.actor, event.reason) == ("comment", "ann", "a copy, *see* X")


def test_what_a_foreign_sidecar_calls_comments_is_kept_and_not_shown(library: Library) -> None:
    library.add([coin(1, review_comments="12 likes"), coin(2, review_comments=[{"text": "hi"}, 3])])
    assert [library.get(address(number)).comments for number in (1, 2)] == [[], []]
    outcome = library.comment([address(1), address(2)], "ours", actor="ann")
    assert [refusal.item for refusal in outcome.refused] == [address(1)]
    assert "something else under 'review_comments'" in outcome.refused[0].reason
    assert [one["text"] for one in library.get(address(2)).comments] == ["ours"]
    assert library.get(address(2)).sidecar["review_comments"][:2] == [{"text": "hi"}, 3]
