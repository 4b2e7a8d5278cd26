"""A query that matches nothing is marked so, and a related meaning is a match."""

from pathlib import Path
from random import Random
from string import ascii_lowercase

import pytest

from store.catalog.filters import Filter
from store.evaluation import evaluation
from store.library import Library
from store.search.query import Part, Query

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


@pytest.mark.slow
def test_a_related_meaning_matches_without_the_exact_word(demo_library: Library) -> None:
    fits = [demo_library.search(Query((Part(text=text),))).fits for text in REAL]
    assert sum(fits) >= 8, dict(zip(REAL, fits, strict=True))


@pytest.mark.slow
def test_golden_queries_examples_and_pictures_always_match(demo_library: Library) -> None:
    for golden in evaluation.all_of(demo_library):
        assert demo_library.search(Query(golden.parts)).fits, golden.line
    address = demo_library.addresses(IN_LIBRARY)[0]
    assert demo_library.search(Query((Part(like=address), Part(text="xqzvkj")))).fits
    picture = Path(demo_library.picture(address)).read_bytes()
    assert demo_library.search(Query((Part(image=picture),))).fits
