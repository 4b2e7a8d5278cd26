"""Suggestions of texts for facets and tags."""

from typing import Any

import pytest

from store.errors import InvalidRecord
from store.library import Library
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_a_suggestion_for_no_facet_is_refused_by_name(library: Library) -> None:
    library.add([coin(0)])
    texts: dict[Any, str] = {"entity": "a frog", "sound": "ribbit"}
    with pytest.raises(
        InvalidRecord, match="sound is no facet; these are: entity, context, visual, emotions"
    ):
        library.suggestions.save(address(0), texts, model="a model")
    assert library.suggestions.of(address(0)) == []
