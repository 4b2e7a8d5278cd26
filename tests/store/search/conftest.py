"""Both ways in which a search reads vectors."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", params=["all exact at once", "bytes first"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Few records are compared exactly at once, many by their bytes first, with the same results."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "bytes first":
            patch.setattr("store.search.similarities.FEW", -1)
        yield
