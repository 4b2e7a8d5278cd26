"""A search among the records that pass a filter."""

from collections.abc import Callable

import pytest

from store.catalog.filters import Filter
from store.library import Library
from store.records import Facet
from store.search.query import Part, Query
from tests.store.conftest import written

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
