"""A library whose catalog was copied."""

from pathlib import Path

import pytest

from store.runtime import open_library
from store.search.query import SavedSearch
from tests.store.catalog.copied import FIRST, SECOND, THIRD
from tests.store.conftest import approved_with_caption, coin
from tests.store.hashed import Hashed


@pytest.fixture
def stocked(quick_root: Path) -> Path:
    """A closed library with history and drafts; its catalog was copied, then changed."""
    with open_library(quick_root, embedder=Hashed()) as library:
        approved_with_caption(library, 0, 1)
        library.promote([FIRST])
        library.add([coin(2)])
        library.drafts.save(THIRD, {"entity": "half a"}, actor="ann")
        library.searches.save("dogs", SavedSearch("dog"))
        library.catalog.keep_snapshot("daily")
        library.add([coin(3)])
        library.reject([SECOND], reason="blurred")
    return quick_root
