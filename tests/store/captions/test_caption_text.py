"""Replacing words in many captions: a preview, one decision for all of them, and one undo."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.captions.caption_text import Replacement, ReplaceRequest, replacements
from store.catalog.filters import Filter
from store.errors import InvalidRecord, NothingToUndo
from store.library import Library
from store.progress import Progress
from store.records import Record
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, coin, fresh_root
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")

NUMBERS = range(70)  # more than one operation


@pytest.fixture(scope="module")
def template_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seventy coins with captions, two of them in the library; a template that each test copies."""
    root = fresh_root(tmp_path_factory.mktemp("template_root") / "res")
    with open_library(root, embedder=Hashed()) as library:
        approved_with_caption(library, *NUMBERS)
        library.promote([address(0), address(1)])
    return root


@pytest.fixture
def stocked(template_root: Path, tmp_path: Path) -> Iterator[Library]:
    with open_library(shutil.copytree(template_root, tmp_path / "res"), embedder=Hashed()) as library:
        yield library


def find_replacements(library: Library, find: str, put: str, **how: object) -> list[Replacement]:
    return replacements(library.find(Filter()), ReplaceRequest(find, put, **how))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_replacement_in_many_captions_is_one_decision_and_one_undo(stocked: Library) -> None:
    before = {record.address: record.caption for record in stocked.find(Filter())}
    seen = find_replacements(stocked, "text", "words", facets=("entity", "visual"))
    assert len(seen) == 2 * len(NUMBERS)
    progress = Progress()
    outcome = stocked.replace(seen, progress=progress, actor="ann")
    assert len(outcome.done) == progress.done == len(NUMBERS)
    assert stocked.get(address(0)).caption["entity"] == "words 0 entity"
    assert stocked.get(address(0)).caption["context"] == "text 0 context"
    assert stocked.decisions()[0].verb == "replace"
    assert stocked.decisions()[0].count == len(NUMBERS)
    stocked.undo(actor="ann")
    assert {record.address: record.caption for record in stocked.find(Filter())} == before
    with pytest.raises(NothingToUndo):
        stocked.undo(actor="ann")


def test_a_caption_changed_after_the_preview_is_not_replaced(stocked: Library) -> None:
    seen = find_replacements(stocked, "text", "words", facets=("entity",))
    stocked.caption(address(5), caption={"entity": "mine"})
    outcome = stocked.replace(seen)
    assert [refusal.item for refusal in outcome.refused] == [address(5)]
    assert stocked.get(address(5)).caption["entity"] == "mine"
    assert len(outcome.done) == len(NUMBERS) - 1


def test_a_replacement_never_empties_a_library_caption(stocked: Library) -> None:
    outcome = stocked.replace(find_replacements(stocked, "^.*$", "", is_pattern=True, facets=("entity",)))
    assert {refusal.item for refusal in outcome.refused} == {address(0), address(1)}
    assert stocked.get(address(0)).caption["entity"] == "text 0 entity"


def test_plain_text_is_matched_literally_and_patterns_support_groups(stocked: Library) -> None:
    assert find_replacements(stocked, "t.xt", "x") == []
    (one,) = [
        each
        for each in find_replacements(stocked, r"TEXT (\d+)", r"\1 \\1", is_pattern=True, ignores_case=True)
        if each.address == address(7) and each.facet == "entity"
    ]
    assert (one.before, one.after) == ("text 7 entity", "7 \\1 entity")
    assert find_replacements(stocked, "67", r"\1")[0].after == r"text \1 entity"


def test_an_invalid_pattern_is_reported(stocked: Library) -> None:
    for find, put in ("", "x"), ("(", "x"), ("(?P<a", "x"), ("t", r"\9"), ("x" * 2000, ""):
        with pytest.raises(InvalidRecord):
            find_replacements(stocked, find, put, is_pattern=True)


def test_a_pattern_that_takes_too_long_is_stopped(stocked: Library) -> None:
    stocked.caption(address(3), caption={"entity": "a" * 60 + "!"})
    with pytest.raises(InvalidRecord, match="takes too long on the caption of Coin 3"):
        find_replacements(stocked, r"^(a|aa|a?)+$", "x", is_pattern=True, facets=("entity",))


def test_a_replacement_that_makes_a_caption_too_long_is_refused(stocked: Library) -> None:
    with pytest.raises(InvalidRecord, match="more than 20,000 characters"):
        find_replacements(stocked, "t", "x" * 19_999)


def test_a_word_found_in_any_case_keeps_its_capitals() -> None:
    text = "Frog of frogs, FROG"
    assert _after(text, "frog", "toad", ignores_case=True) == "Toad of toads, TOAD"
    assert _after("A frog on a log", "a ", "one ", ignores_case=True) == "One frog on one log"
    assert _after(text, "frog", "TOAD", ignores_case=True) == "TOAD of TOADs, TOAD", (
        "capitals that were typed"
    )
    assert _after(text, "Frog", "toad") == "toad of frogs, FROG"
    assert _after(text, "(f)rog", r"\1ish", is_pattern=True, ignores_case=True) == "Fish of fishs, Fish"


def _after(text: str, find: str, put: str, **how: bool) -> str:
    record = Record({**coin(0).sidecar, "caption": {"entity": text}}, "approved")
    [change] = replacements([record], ReplaceRequest(find, put, **how))
    return change.after
