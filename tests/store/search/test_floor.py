"""A query that matches nothing is marked so, and a related meaning is a match."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from string import ascii_lowercase

import numpy as np
import pytest

from store.catalog.filters import Filter
from store.embedding.protocol import Embedder
from store.evaluation import evaluation
from store.library import Library
from store.search import search
from store.search.query import Part, Query
from store.search.search import compared_rows
from store.vectors.matrices import VectorSnapshot
from tests.store import conftest

IN_LIBRARY = Filter(tier="library")


# Different from the questions that set the floor (store/search/nonsense_questions.txt).
_LETTERS = Random(5)


NONSENSE = tuple(
    " ".join("".join(_LETTERS.choices(ascii_lowercase, k=_LETTERS.randint(4, 9))) for _ in range(words))
    for words in (1, 2, 3)
    for _ in range(20)
)


REAL = (  # no demo coin has any of these words
    "feline", "canine", "amphibian", "beverage", "sport", "wealthy", "melancholy", "primate", "autumn",
    "cuisine",
)  # fmt: skip


@pytest.mark.slow
def test_nonsense_is_marked_as_unmatched_but_still_has_results(demo_library: Library) -> None:
    found = {text: demo_library.search(Query((Part(text=text),), fused=True)) for text in NONSENSE}
    assert all(one.hits for one in found.values())
    assert sum(not one.fits for one in found.values()) >= 0.9 * len(NONSENSE)
    [floor] = {one.floor() for one in found.values() if not one.fits}
    assert 0 < (floor or 0) < 1


@pytest.mark.slow
def test_a_related_meaning_matches_without_the_exact_word(demo_library: Library) -> None:
    fits = [demo_library.search(Query((Part(text=text),))).fits for text in REAL]
    assert sum(fits) >= 8, dict(zip(REAL, fits, strict=True))


@pytest.mark.slow
def test_a_question_in_another_language_is_answered(demo_library: Library) -> None:
    for text in ("ein Frosch mit Krone", "una rana con corona", "戴皇冠的青蛙", "王冠をかぶったカエル"):
        found = demo_library.search(Query((Part(text=text),), fused=True))
        assert found.fits, text
        first = [record.name for record in demo_library.records(hit.address for hit in found.hits[:5])]
        assert any("frog" in name.casefold() or "toad" in name.casefold() for name in first), (text, first)


@pytest.mark.slow
def test_golden_queries_examples_and_pictures_always_match(demo_library: Library) -> None:
    for golden in evaluation.all_of(demo_library):
        assert demo_library.search(Query(golden.parts)).fits, golden.line
    address = demo_library.addresses(IN_LIBRARY)[0]
    assert demo_library.search(Query((Part(like=address), Part(text="xqzvkj")))).fits
    picture = Path(demo_library.picture(address)).read_bytes()
    shown = demo_library.search(Query((Part(image=picture),)))
    assert shown.fits
    assert shown.floor() is None, "of pictures no floor is known"


def test_the_floor_is_that_of_every_record_of_few_and_of_runs_among_many() -> None:
    assert compared_rows(3).tolist() == [0, 1, 2]
    assert compared_rows(0).tolist() == []
    rows = compared_rows(1_000_000)
    assert len(rows) == 4_992
    assert (rows[0], rows[-1]) == (0, 999_999)
    assert (np.diff(rows) == 1).sum() == 15 * len(rows) // 16
    assert len(compared_rows(5_001)) > 4_900


@pytest.mark.usefixtures("without_chroma")
def test_the_floor_is_measured_again_when_a_hundredth_of_the_library_has_changed(
    library: Library, captioned: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def measure(snapshot: VectorSnapshot, _: Embedder) -> float:
        measured.append(len(snapshot))
        return 0.0

    monkeypatch.setattr(search, "floor", measure)
    monkeypatch.setattr(search, "_SAME", 4)  # a quarter, of eight
    library.promote(captioned(*range(8)))
    for number in range(4):
        library.search(Query((Part(text=f"xqzv{number}"),)))
        library.degrade([conftest.address(number)])
    assert measured == [8, 6], "not for one coin of eight, but for two"
