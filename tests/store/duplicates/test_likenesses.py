"""Every picture is compared once it has a vector, whenever that comes, and none twice."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from store.duplicates.likenesses import LikenessFinder
from store.library import Library
from store.progress import Progress
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")


class FakePictureIndex:
    """Pictures of which some have a vector; notes which are compared."""

    embedder = Hashed()

    def __init__(self) -> None:
        self.embedded: set[str] = set()
        self.times_read = 0
        self.compared: list[str] = []

    def read(self) -> "FakePictureIndex":
        self.times_read += 1
        return self

    def vector(self, address: str) -> object | None:
        return "a vector" if address in self.embedded else None

    def near_many(self, addresses: Sequence[str], *, least: float) -> dict[str, dict[str, float]]:
        self.compared += addresses
        return {each: {} for each in addresses}


@pytest.fixture
def index() -> FakePictureIndex:
    return FakePictureIndex()


@pytest.fixture
def finder(library: Library, index: FakePictureIndex) -> LikenessFinder:
    pictures: Any = SimpleNamespace(embedder=FakePictureIndex.embedder, index=lambda: index.read())
    confirmation: Any = SimpleNamespace(similar=lambda address, near: near)
    return LikenessFinder(library.catalog, pictures, confirmation)


def test_a_picture_is_compared_once_its_vector_has_come(
    library: Library, finder: LikenessFinder, index: FakePictureIndex
) -> None:
    library.add([coin(0), coin(1)])
    index.embedded = {address(0)}
    assert finder.compare_new(progress=Progress()) == 1
    assert finder.compare_new(progress=Progress()) == 0
    index.embedded.add(address(1))
    assert finder.compare_new(progress=Progress()) == 1
    library.approve([address(0), address(1)])
    assert finder.compare_new(progress=Progress()) == 0
    assert index.compared == [address(0), address(1)]


def test_a_picture_of_two_coins_is_compared_although_the_first_of_them_went_away(
    library: Library, finder: LikenessFinder, index: FakePictureIndex
) -> None:
    first = coin(0)
    library.add([first, replace(coin(1), picture=first.picture)])
    assert finder.compare_new(progress=Progress()) == 0
    gone, left = sorted((address(0), address(1)))
    library.delete([gone])
    library.trash.empty(expected=1)
    index.embedded = {left}
    assert finder.compare_new(progress=Progress()) == 1
    assert index.compared == [left]


def test_no_vector_is_read_where_no_picture_waits(
    library: Library, finder: LikenessFinder, index: FakePictureIndex
) -> None:
    assert finder.compare_new(progress=Progress()) == 0
    assert not index.times_read
    library.add([coin(0)])
    index.embedded = {address(0)}
    assert finder.compare_new(progress=Progress()) == 1
    before = index.times_read
    library.approve([address(0)])
    assert finder.compare_new(progress=Progress()) == 0
    assert index.times_read == before
