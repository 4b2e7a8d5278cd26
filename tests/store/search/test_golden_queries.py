"""Golden queries and judgements: stored in the catalog and in files, imported from files, evaluated."""

import json
import math
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from store.disk.layout import RESOURCES
from store.errors import BadSource, InvalidRecord, ReadOnly
from store.evaluation import evaluation
from store.library import Library
from store.permissions import Actor
from store.runtime import open_library
from store.search import golden_queries
from tests.store.conftest import address
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")


def kept(library: Library) -> dict[str, tuple[str, ...]]:
    return {one.line: one.answers for one in library.golden.all()}


def in_file(library: Library, collection: str = "own") -> dict[str, list[str]]:
    content = json.loads((library.layout.golden / f"{collection}.json").read_bytes())
    return {one["line"]: one["answers"] for one in content["queries"]}


def test_a_golden_query_is_stored_in_the_catalog_and_a_file_until_deleted(library: Library) -> None:
    library.golden.save('2 × "frog" − "rain" tag:dog', [address(1), address(1), address(2)], actor="ann")
    assert kept(library) == {'2 × "frog" − "rain"': (address(1), address(2))}  # its filter is not part of it
    assert in_file(library) == {'2 × "frog" − "rain"': [address(1), address(2)]}
    library.golden.save('2 × "frog" − "rain"', [address(3)])
    assert kept(library) == {'2 × "frog" − "rain"': (address(3),)}
    library.golden.delete('2 × "frog" − "rain"')
    assert kept(library) == in_file(library) == {}


@pytest.mark.parametrize("line", ["", "   ", 'picture − "frog"', "tag:dog", "frog " * 1_000])
def test_a_line_that_cannot_be_searched_again_is_refused(library: Library, line: str) -> None:
    with pytest.raises(InvalidRecord):
        library.golden.save(line, [address(1)])
    with pytest.raises(InvalidRecord):
        library.golden.judge(line, address(1), True)
    assert library.golden.all() == []


def test_an_answer_and_a_valid_collection_name_are_required(library: Library) -> None:
    with pytest.raises(InvalidRecord, match="relevant coin"):
        library.golden.save("frog", [])
    with pytest.raises(InvalidRecord, match="name"):
        library.golden.save("frog", [address(1)], collection="../own")
    assert not library.layout.golden.exists()


def test_an_edited_file_is_applied_on_opening_and_a_broken_one_is_ignored(
    library: Library, root: Path
) -> None:
    library.golden.save("frog", [address(1)])
    file = library.layout.golden / "own.json"
    library.close()
    file.write_text(json.dumps({"queries": [{"line": "dog", "answers": [address(2)]}]}))
    (file.parent / "team.json").write_text(
        json.dumps({"queries": [{"line": "cat", "answers": [address(3)]}]})
    )
    (file.parent / "broken.json").write_text('{"queries": [{"line": "')
    library = open_library(root, embedder=Hashed())
    assert kept(library) == {"dog": (address(2),), "cat": (address(3),)}
    assert [fault.split()[0] for fault in library.golden.faults] == ["broken.json"]
    with pytest.raises(BadSource):
        library.golden.import_content("team", b'{"queries": [{"line": "x", "answers": 5}]}')
    assert kept(library) == {"dog": (address(2),), "cat": (address(3),)}
    library.close()


@pytest.mark.parametrize(
    "content",
    [
        b'{"queries": [{"line": "',
        b"[" * 100_000,
        b'{"queries": [{"line": "\\ud800", "answers": ["local-1"]}]}',
        b'{"queries": {"line": "frog"}}',
        b'{"queries": [{"line": "frog", "answers": "local-1"}]}',
        b"\xff\xfe",
    ],
    ids=["cut off", "nested", "unpaired surrogate", "no list", "no list of answers", "no text"],
)
def test_a_broken_file_is_reported_and_never_overwritten(
    library: Library, root: Path, content: bytes
) -> None:
    library.golden.save("frog", [address(1)])
    file = library.layout.golden / "own.json"
    library.close()
    file.write_bytes(content)
    library = open_library(root, embedder=Hashed())
    (fault,) = library.golden.faults
    assert fault.startswith("own.json was changed by hand")
    for change in (lambda: library.golden.save("dog", [address(2)]), lambda: library.golden.delete("frog")):
        with pytest.raises(BadSource, match="fix or remove it"):
            change()
    assert file.read_bytes() == content
    assert kept(library) == {"frog": (address(1),)}
    file.unlink()
    library.golden.save("dog", [address(2)])
    assert kept(library) == {"frog": (address(1),), "dog": (address(2),)}
    library.close()


def test_duplicate_lines_in_a_file_merge_their_answers(library: Library) -> None:
    rows = [{"line": "frog", "answers": [address(one)]} for one in (1, 2, 1)]
    library.golden.import_content("team", json.dumps({"queries": rows}).encode())
    assert kept(library) == {"frog": (address(1), address(2))}


def test_saving_a_golden_query_keeps_manual_edits_of_the_file(library: Library) -> None:
    library.golden.save("frog", [address(1)])
    file = library.layout.golden / "own.json"
    file.write_text(json.dumps({"queries": [{"line": "cat", "answers": [address(3)]}]}))
    (file.parent / "folder.json").mkdir()
    (file.parent / "gone.json").symlink_to("nothing.json")
    assert library.golden.unread() == ["folder.json", "gone.json", "own.json"]
    (file.parent / "folder.json").rmdir()
    (file.parent / "gone.json").unlink()
    library.golden.save("dog", [address(2)])
    assert library.golden.unread() == []
    assert kept(library) == {"cat": (address(3),), "dog": (address(2),)}


def test_queries_that_a_manual_edit_leaves_as_they_were_keep_their_author_and_time(library: Library) -> None:
    library.golden.save("frog", [address(1)], actor="ann")
    library.golden.save("dog", [address(2)], actor="ben")
    frog, _ = library.golden.all()
    file = library.layout.golden / "own.json"
    rows = [{"line": "dog", "answers": [address(3)]}, {"line": "frog", "answers": [address(1)]}]
    file.write_text(json.dumps({"queries": rows}))
    library.golden.apply_external_edits()
    after = {one.line: one for one in library.golden.all()}
    assert after["frog"] == frog
    assert (after["dog"].answers, after["dog"].actor) == ((address(3),), "file")


def test_a_crash_after_the_file_was_written_changes_no_author(
    library: Library, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.golden.save("frog", [address(1)], actor="ann")
    with monkeypatch.context() as crash:
        crash.setattr(library.catalog, "set_meta", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            library.golden.save("dog", [address(2)], actor="ben")
    before = library.golden.all()
    library.close()
    library = open_library(root, embedder=Hashed())
    assert library.golden.all() == before
    assert [one.actor for one in before] == ["ann", "ben"]
    assert library.golden.unread() == []
    library.close()


def test_answers_outside_the_library_are_reported_with_their_tier(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    first, second = captioned(1, 2)
    library.promote([first, second])
    library.delete([second])
    library.golden.save("frog", [first, second, address(9)])
    assert evaluation.answers_outside_library(library, library.golden.all()) == {
        second: "trash",
        address(9): "gone",
    }


def test_a_relevance_judgement_can_be_changed_and_removed(library: Library) -> None:
    library.golden.judge("a frog", address(1), True, actor="ann")
    library.golden.judge("a frog tag:dog", address(2), False, actor="bob")
    assert library.golden.relevance_of("a frog") == {address(1): True, address(2): False}
    library.golden.judge("a frog", address(2), True)
    library.golden.judge("a frog", address(1), None)
    assert library.golden.relevance_of("a frog") == {address(2): True}
    assert [(one.line, one.answers) for one in evaluation.all_of(library)] == [("a frog", (address(2),))]


def test_judgements_of_single_results_correct_a_golden_query(library: Library) -> None:
    library.golden.save("a frog", [address(1), address(2)])
    library.golden.judge("a frog", address(2), False)
    library.golden.judge("a frog", address(3), True)
    assert [(one.line, one.answers) for one in evaluation.all_of(library)] == [
        ("a frog", (address(1), address(3)))
    ]


def test_a_viewer_cannot_judge_results(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.permissions.may_change", lambda *_: False)
    page = library.for_actor(Actor("vera"))
    with pytest.raises(ReadOnly):
        page.golden.judge("frog", address(1), True)
    assert page.golden.relevance_of("frog") == {}


def test_evaluation_figures_match_a_manual_calculation(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(12)))
    library.golden.save("text 3 entity", [address(3)])  # equal content has equal vectors: found first
    library.golden.save("text 5 entity", [address(5), address(6), address(400)])
    library.golden.save("something else", [address(500)])
    found = evaluation.evaluate(library, presets={"entity": {"entity": 1}})
    assert (found.queries, found.left_out) == (2, ("something else",))
    places = [hit.address for hit in library.search(query("text 5 entity")).hits]
    sixth = places.index(address(6)) + 1
    near = sixth <= evaluation.TOP
    gain = (1 + (1 / math.log2(1 + sixth) if near else 0)) / (1 + 1 / math.log2(3))
    raw, calibrated, fused = found.rows
    of_raw = found.scores(raw)
    assert of_raw.recall.mean == pytest.approx((1 + (2 if near else 1) / 2) / 2)
    assert of_raw.mrr.mean == 1
    assert of_raw.ndcg.mean == pytest.approx((1 + gain) / 2)
    assert of_raw.ndcg.low <= of_raw.ndcg.mean <= of_raw.ndcg.high <= 1
    assert found.scores(raw, k=1).recall.mean == 1  # no more than one can be among the first one
    assert found.scores(raw, k=12).recall.mean == 1
    assert (raw.fused, fused.fused, fused.calibrated) == (False, True, False)
    assert calibrated.places == raw.places  # of one facet alone, a scale changes no order
    evaluation.store(library, found, actor="ann")
    assert evaluation.stored(library) == [found]


def test_the_worst_queries_are_those_of_the_setting_that_is_shown() -> None:
    raw = evaluation.PresetResult("Default", False, ((1,), (4,)))
    fused = evaluation.PresetResult("Default", False, ((3,), (1,)), fused=True)
    found = evaluation.Evaluation("model", 0, ("frog", "cat"), (1, 1), (), (raw, fused))
    assert [line for line, _ in found.worst(raw)] == ["cat", "frog"]
    assert found.worst(fused) == [("frog", pytest.approx(1 / math.log2(4))), ("cat", 1)]
    assert found.worst(fused, count=1) == found.worst(fused)[:1]


def test_saved_weights_are_evaluated_too(library: Library, captioned: Callable[..., list[str]]) -> None:
    library.promote(captioned(*range(3)))
    library.golden.save("text 2 context", [address(2)])
    library.presets.save("ours", {"context": 1})
    found = evaluation.evaluate(library)
    assert [row.preset for row in found.rows][-2:] == ["ours", "ours"]
    assert found.rows[-1].places == ((1,),)


def query(text: str) -> evaluation.Query:
    return evaluation.Query(golden_queries.parts_of(text), weights={"entity": 1})


def test_the_demo_library_has_golden_queries_with_answers() -> None:
    content = json.loads(golden_queries.shipped(RESOURCES, "demo"))["queries"]
    coins = json.loads((RESOURCES / "demo" / "manifest.json").read_bytes())["coins"]
    made = {coin["token_address"]: coin for coin in coins}
    assert len(content) == len({one["line"] for one in content}) >= 60
    assert all(made[answer]["tier"] == "library" for one in content for answer in one["answers"])
    owls = next(one for one in content if one["line"] == "owl")
    assert {made[answer]["character"] for answer in owls["answers"]} == {"owl"}


def test_concurrent_saves_are_all_written_to_the_file(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, lock, others = library.golden._disk.replace, library.catalog.lock, ["rain"]

    def save_another() -> None:
        if lock.acquire(blocking=False):  # else it has to wait until the file is written
            library.golden.save(others.pop(), [address(2)])
            lock.release()

    def meanwhile(path: Path, content: bytes) -> None:
        monkeypatch.setattr(library.golden._disk, "replace", replace)
        another = threading.Thread(target=save_another)
        another.start()
        another.join()
        replace(path, content)

    monkeypatch.setattr(library.golden._disk, "replace", meanwhile)
    library.golden.save("frog", [address(1)])
    for line in others:
        library.golden.save(line, [address(2)])
    assert in_file(library).keys() == kept(library).keys() == {"frog", "rain"}
    assert library.golden.unread() == []
