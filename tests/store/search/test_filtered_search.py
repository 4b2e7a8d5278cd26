"""A search among the records that pass a filter."""

from collections.abc import Callable

import pytest

from store.catalog.filters import Filter
from store.library import Library
from store.pictures.picture_texts import TextReading, store_reading
from store.records import Facet
from store.search.query import Part, Query
from tests.store.conftest import address, coin, written

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_moving_a_slider_does_not_repeat_the_filter_query(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    first, *others = captioned(0, 1, 2)
    library.promote([first, *others])
    tagged = Filter(tier="library", tags=("dog",))

    def ask(**weights: float) -> object:
        given: dict[Facet, float] = {**weights}  # type: ignore[dict-item]
        return library.search(Query((Part(text="x"),), weights=given, filter=tagged)).mask

    mask = ask(entity=1)
    assert mask is not None
    assert ask(context=3) is mask
    library.caption(first, caption=written("text 0"), tags=[])
    changed = library.search(Query((Part(text="x"),), filter=tagged))
    assert {hit.address for hit in changed.hits} == {*others}
    assert changed.mask is not mask


def test_a_change_of_other_coins_leaves_the_filter_as_it_is(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(0, 1))
    tagged = Query((Part(text="x"),), filter=Filter(tier="library", tags=("dog",)))
    passing = library._matches.passing(tagged.filter)
    library.add([coin(5)])
    assert library._matches.passing(tagged.filter) is passing
    library.promote(captioned(2))
    assert set(library._matches.passing(tagged.filter)) == {*passing, address(2)}


def test_a_picture_that_is_found_unfit_is_left_out_of_a_search_at_once(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    first, second = captioned(0, 1)
    library.promote([first, second])
    fit = Query((Part(text="x"),), filter=Filter(tier="library", unfit="no"))
    assert len(library.search(fit).hits) == 2
    with library.catalog.writing() as db:
        store_reading(db, TextReading(library.get(first).image_hash, nudity=0.9))
    assert [hit.address for hit in library.search(fit).hits] == [second]
