"""A page is shown without an error at any address, with any parameters."""

from collections.abc import Iterator

import pytest
import streamlit as st
from hypothesis import given, strategies

from store.library import Library
from store.settings import settings
from tests.fuzz.cases import NUMBERS, TEXTS, bounded, fuzz
from tests.fuzz.test_lines import LINES
from tests.pages.conftest import opened
from tests.store.conftest import address

PARAMETERS = {
    "search": (
        "q", "n", "fold", "w", "as", "against", "calibrated", "words", "like", "search", "filter",
        "view", "map_of", "map_by", "map_colour",
    ),
    "review": ("pending_words", "pending_sort", "pending_like", "pending_page", "filter"),
    "captions": ("address", "view", "check", "captions_kind"),
}  # fmt: skip
WEIGHTS = strategies.lists(NUMBERS.map(lambda number: f"{number}"[:30]), min_size=4, max_size=7).map(",".join)
SAID = strategies.one_of(
    LINES,
    TEXTS,
    WEIGHTS,
    NUMBERS.map(lambda number: f"{number}"[:400]),
    strategies.sampled_from(
        (
            address(6),
            "9999-12-31",
            "0001-01-01",
            "versus",
            "table",
            "true",
            "1",
            "library",
            "over 400",
            "t-SNE",
            "Map",
            "Check",
        )
    ),
)


@strategies.composite
def addresses(draw: strategies.DrawFn) -> tuple[str, dict[str, str]]:
    page = draw(strategies.sampled_from(sorted(PARAMETERS)))
    parameters = draw(
        strategies.dictionaries(strategies.sampled_from(PARAMETERS[page]), SAID, min_size=1, max_size=4)
    )
    return page, {name: text.encode(errors="ignore").decode() for name, text in parameters.items()}


@pytest.fixture(scope="module")
def shown(library: Library) -> Iterator[None]:
    """The pages open this very library."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMEDEX_ROOT", str(library.layout.root))
        patch.setenv("MEMEDEX_USER", "tester")
        settings.cache_clear()
        yield
    settings.cache_clear()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.mark.slow
@pytest.mark.usefixtures("shown")
@fuzz(share=0.03)
@given(page_and_parameters=addresses())
def test_any_address_of_a_page_is_shown(page_and_parameters: tuple[str, dict[str, str]]) -> None:
    page, parameters = page_and_parameters
    with bounded():
        assert opened(page, reading_only=False, **parameters).title
