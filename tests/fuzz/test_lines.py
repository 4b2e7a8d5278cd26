"""Any line of the search box or of a filter, and any weights, give an answer or a named error."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from components.grid import matching, result_link
from components.search import results
from store.catalog import filter_syntax
from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.errors import MemedexError
from store.library import Library
from store.reading.query_binding import did_you_mean, exact_matches, parts_of, records_listed
from store.search.query import Part, Query
from store.search.query_syntax import read, written
from tests.fuzz.cases import NUMBERS, SCALARS, TEXTS, VALUES, altered, bounded, fuzz
from tests.store.conftest import address

_PIECES = (
    "tag:", "category:", "-", "−", "+", '"', "“", "(", ")", " OR ", " AND ", "NOT ", "*", "2 ×", "0,5*",
    "9e999 × ", "before:", "after:", "2025-01-31", "9999-12-31", "0001-01-01", "0000", "length:", ">", "<",
    "99999999999999999999", "has:", "entity", "visual:", "like:", address(6), "picture", ";", "dup:", "tier:",
    "by:", "me", "decided:", "source:", "dog", "moon", "frog in the rain", "\ud83d", "\0", "%", "_", "'",
    "\\", "\n", "🐸", "words:", "suspicious:", "yes",
)  # fmt: skip
LINES = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=9).map("".join),
    st.lists(st.sampled_from(_PIECES), max_size=9).map(" ".join),
    TEXTS,
    st.sampled_from(_PIECES).flatmap(lambda one: st.sampled_from((50, 2_000)).map(lambda times: one * times)),
)  # fmt: skip
WEIGHTS = st.dictionaries(
    st.sampled_from(("image", "entity", "context", "visual", "emotions", "other")), SCALARS, max_size=6
)


@fuzz(share=0.06)
@given(line=LINES)
def test_any_filter_line_lists_coins(library: Library, line: str) -> None:
    with bounded():
        found = parsed(line, base=Filter(tier="pending"), actor="ann")
        filter_syntax.corrected(line, names_tier=True)
        filter_syntax.cleared(line, "filter")
        results.filter_text(found.filter)
        library.find(found.filter, limit=3)
        assert library.count(found.filter) >= 0
        offered = matching.offered(library, found.filter, total=1)
        matching.addresses(library, offered)


@fuzz(share=0.08)
@given(line=LINES, weights=st.none() | WEIGHTS, top=st.integers(1, 50) | NUMBERS)
def test_any_search_line_with_any_weights_is_answered(
    library: Library, line: str, weights: dict[str, object] | None, top: object
) -> None:
    with bounded():
        question = read(line, actor="ann")
        assert read(written(question)).terms == question.terms
        filter_syntax.corrected(line, names_tier=True)
        results.filter_text(question.filter)
        parts, faults = parts_of(library, question, pictures=lambda message: None)
        assert all(faults)
        exact_matches(library, question, line, limit=5)
        records_listed(library, question, limit=5)
        did_you_mean(library, question, line)
        if parts:
            answered(library, parts, weights, top, question.filter)


def answered(library: Library, parts: Iterable[Part], weights: object, top: object, filter: Filter) -> None:
    try:
        query = Query(tuple(parts), weights=weights, top=top, filter=filter, fused=True)  # type: ignore[arg-type]
        results = library.search(query)
    except MemedexError:
        pass
    else:
        assert all(math.isfinite(hit.score) for hit in results.hits)


@fuzz(share=0.03)
@given(numbers=st.lists(SCALARS.map(str) | TEXTS, max_size=7).map(",".join))
def test_any_weights_of_an_address_are_five_numbers_or_none(numbers: str) -> None:
    weights = result_link._read(numbers.split(","))
    assert weights is None or all(0 <= value <= 10 for value in weights.values())


FILTER = {**asdict(Filter(tier="pending", words="dog", tags=("dog",))), "since": 1, "until": 2}


@fuzz(share=0.03)
@given(filter=altered(FILTER), generation=st.just(1) | SCALARS, left_out=st.just([]) | VALUES)
def test_any_filter_of_a_page_selects_coins_or_none(
    library: Library, filter: object, generation: object, left_out: object
) -> None:
    sent = {"filter": json.dumps(filter), "generation": generation, "except": left_out}
    with bounded():
        assert len(matching.addresses(library, sent)) <= 8
