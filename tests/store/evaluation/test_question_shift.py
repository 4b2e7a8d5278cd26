"""A question is shifted by its marks, measured on marks that the shift has not seen."""

import pytest

from store.errors import InvalidRecord
from store.evaluation.question_shift import measured, of_question, shift_of
from store.library import Library
from store.records import CAPTION_FACETS
from store.search.query import BAD, GOOD, Part, Query, QueryShift
from store.search.query_syntax import read
from tests.store.conftest import address, approved_with_caption

QUERY = Query((Part(text="text 1"),), top=12)


@pytest.fixture
def full(library: Library) -> Library:
    library.promote(approved_with_caption(library, *range(12)))
    return library


@pytest.mark.usefixtures("without_chroma")
def test_each_facet_adds_the_means_of_the_marked_coins_to_the_question(full: Library) -> None:
    shift = QueryShift((address(2), address(3), "not-in-the-library"), (address(4),))
    plain = {hit.address: hit for hit in full.search(QUERY).hits}
    examples = {
        one: {hit.address: hit for hit in full.search(Query((Part(like=address(one)),), top=12)).hits}
        for one in (2, 3, 4)
    }
    shifted = full.search(Query(QUERY.parts, top=12, shift=shift))
    assert len(shifted.hits) == 12, "marked coins stay among the results"
    compared = 0
    for hit in shifted.hits:
        if hit.address in (address(2), address(3), address(4)):
            continue  # a coin is not among the results of its own example
        for facet in CAPTION_FACETS:
            parts = [plain[hit.address].facets[facet].cosine]
            parts += [examples[one][hit.address].facets[facet].cosine for one in (2, 3, 4)]
            if None not in parts:
                asked, *near = [part for part in parts if part is not None]
                meant = asked + GOOD * (near[0] + near[1]) / 2 - BAD * near[2]
                assert hit.facets[facet].cosine == pytest.approx(meant / (1 + GOOD + BAD), abs=1e-5)
                compared += 1
    assert compared


@pytest.mark.usefixtures("without_chroma")
def test_marks_of_a_question_move_it_and_others_stay(full: Library) -> None:
    full.golden.judge("text 1", address(3), True)
    full.golden.judge("text 1", address(4), False)
    assert of_question(full, read("text 1 tag:frog")) == QueryShift((address(3),), (address(4),))
    assert of_question(full, read("text 2")) is None
    assert of_question(full, read("picture")) is None, "an uploaded picture cannot be asked again"
    assert shift_of({address(4): False}) is None


@pytest.mark.usefixtures("without_chroma")
def test_too_few_marks_are_refused_with_their_numbers(full: Library) -> None:
    marks = {address(number): number < 3 for number in range(12)}
    with pytest.raises(InvalidRecord, match="so far 3 good and 9 bad"):
        measured(full, QUERY, marks)
    with pytest.raises(InvalidRecord, match="so far 0 good and 0 bad"):
        measured(full, QUERY, {"not-in-the-library": True})


@pytest.mark.usefixtures("without_chroma")
def test_the_gain_is_that_of_marks_left_out(full: Library) -> None:
    marks = {address(number): number % 2 == 0 for number in range(12)}
    gain = measured(full, QUERY, {**marks, "not-in-the-library": True})
    assert gain.marks == 12
    assert gain == measured(full, QUERY, marks), "the same each time"
    seen = full.search(Query(QUERY.parts, top=12, shift=shift_of(marks)))
    good_first = [hit.address for hit in seen.hits][:6]
    assert gain.after < 1 or good_first != [address(number) for number in range(0, 12, 2)]
    assert gain.rejection, "these texts say nothing about good and bad"
