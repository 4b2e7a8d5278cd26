"""Sorting by picture similarity, and bounds of cosines, which never exclude a vector that is near enough."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from PIL import Image

from store.catalog.filters import Filter
from store.embedding.protocol import Vector
from store.errors import ModelUnavailable, UnknownRecord
from store.importing.candidate import Candidate
from store.library import Library
from store.progress import Progress
from store.runtime import open_library
from store.search.picture_similarity import CosineBounds, Order, floats, halves
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.duplicates.copies import jpg
from tests.store.hashed import Hashed
from tests.waiting import eventually

DIMENSIONS = 768


def pictures(random: np.random.Generator, count: int, *, large: int) -> Vector:
    """(count, DIMENSIONS) unit vectors, some numbers of which are larger than the others in all."""
    scale = np.ones(DIMENSIONS, np.float32)
    scale[:: DIMENSIONS // large] = 6
    rows = random.standard_normal((count, DIMENSIONS), dtype=np.float32) * scale
    rows[1::10] = rows[::10][: len(rows[1::10])] + rows[1::10] * 0.3  # copies
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("large", [1, 64, 128, 768])
def test_no_near_vector_is_excluded(large: int) -> None:
    rows = halves(pictures(np.random.default_rng(large), 3000, large=large))
    bounds = CosineBounds()
    for least in (0.5, 0.9, 0.999):
        for own in (0, 1, 2999):
            vector = floats(rows[own])
            cosines = np.vecdot(floats(rows), vector)
            assert set(np.flatnonzero(cosines >= least)) <= set(bounds.possible(rows, vector, least=least))


def test_most_vectors_are_excluded_where_some_numbers_are_large() -> None:
    rows = halves(pictures(np.random.default_rng(3), 3000, large=128))
    assert len(CosineBounds().possible(rows, floats(rows[0]), least=0.9)) < 100


def test_rows_that_come_later_are_found() -> None:
    rows = halves(pictures(np.random.default_rng(4), 2500, large=128))
    bounds = CosineBounds()
    assert not len(bounds.possible(rows[:0], floats(rows[2]), least=0.9))
    for count in (1, 2, 1100, 2500):
        assert count - 1 in bounds.possible(rows[:count], floats(rows[count - 1]), least=0.99)


def test_vectors_shorter_than_the_largest_numbers_are_compared_whole() -> None:
    rows = halves(np.eye(4, dtype=np.float32))
    assert CosineBounds().possible(rows, floats(rows[2]), least=0.9).tolist() == [2]


PENDING = Filter(tier="pending")
pytestmark = pytest.mark.usefixtures("without_chroma")


class RedAngleEmbedder(Hashed):
    """A model that embeds only the red of a picture: an angle in a plane, one degree for each shade."""

    fingerprint = "turning 1"

    def embed_images(self, images: Sequence[Image.Image]) -> np.ndarray:
        self.requests += len(images)
        reds = np.radians([np.asarray(image)[..., 0].mean() for image in images])
        rows = np.zeros((len(images), self.dimensions), np.float32)
        rows[:, 0], rows[:, 1] = np.cos(reds), np.sin(reds)
        return rows


def shade(number: int, red: int) -> Candidate:
    plain = coin(number)
    return Candidate(plain.item, plain.sidecar, jpg(Image.new("RGB", (64, 64), (red, 90, 90))))


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    """Five pending coins, each ten degrees redder than the one before, all embedded."""
    with open_library(root, embedder=RedAngleEmbedder()) as library:
        library.add(shade(number, 10 * number) for number in range(5))
        look(library)
        yield library


def look(library: Library) -> None:
    library._prefetcher.embed_next(Progress())


def ordered(library: Library, order: Order, *, like: str = "") -> list[int]:
    """The numbers of the pending coins."""
    numbers = {address(number): number for number in range(20)}
    found = library.by_appearance(library.addresses(PENDING), order, like=like)
    assert found.unseen == 0
    return [numbers[one] for one in found.addresses]


def test_sorting_by_similarity_to_a_chosen_coin(library: Library) -> None:
    assert ordered(library, "like", like=address(0)) == [0, 1, 2, 3, 4]
    assert ordered(library, "like", like=address(4)) == [4, 3, 2, 1, 0]
    with pytest.raises(UnknownRecord):
        library.by_appearance([], "like", like="local-gone")


def test_sorting_by_similarity_to_approved_coins_follows_decisions_and_undo(library: Library) -> None:
    library.approve([address(0)])
    assert ordered(library, "approved") == [1, 2, 3, 4]
    library.approve([address(4), address(3)])
    assert ordered(library, "approved") == [2, 1]
    library.undo()
    assert ordered(library, "approved") == [1, 2, 3, 4]


def test_sorting_by_difference_from_the_library_follows_its_changes(library: Library) -> None:
    library.add([shade(10, 0), shade(11, 90)])
    look(library)
    for number in (10, 11):
        library.approve([address(number)])
        library.caption(address(number), caption={"entity": "a", "context": "b"})
    library.promote([address(10)])
    assert ordered(library, "unlike") == [4, 3, 2, 1, 0]
    library.promote([address(11)])
    assert ordered(library, "unlike")[-1] == 0
    library.degrade([address(10)])
    assert ordered(library, "unlike") == [0, 1, 2, 3, 4]


def test_promotion_reuses_vectors_computed_in_the_background(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, RedAngleEmbedder)
    assert embedder.requests == 5
    approved_with_caption(library, 0)
    look(library)
    assert embedder.requests == 5 + 3, "its texts"
    assert library.promote([address(0)]).refused == []
    assert embedder.requests == 5 + 3


@pytest.fixture
def ready(library: Library) -> str:
    """A captioned coin that is not embedded yet."""
    library.add([shade(12, 80)])
    library.approve([address(12)])
    library.caption(address(12), caption={"entity": "a", "context": "b"})
    return address(12)


def interrupted(library: Library, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> list[int]:
    """Count the pictures in each call of the model; run `act` during the first call."""
    plain, given = library.embedder.embed_images, list[int]()

    def embed(images: Sequence[Image.Image]) -> np.ndarray:
        given.append(len(images))
        if len(given) == 1:
            act()
        return plain(images)

    monkeypatch.setattr(library.embedder, "embed_images", embed)
    return given


def test_the_background_worker_skips_coins_that_are_being_promoted(
    library: Library, ready: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = interrupted(library, monkeypatch, lambda: look(library))
    assert library.promote([ready]).refused == []
    look(library)
    assert given == [1]


def test_a_promotion_waits_for_coins_embedded_in_the_background(
    library: Library, ready: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    promotion = Thread(target=library.promote, args=([ready],))

    def promote() -> None:
        promotion.start()
        promotion.join(0.5)
        assert promotion.is_alive()

    given = interrupted(library, monkeypatch, promote)
    look(library)
    promotion.join()
    assert given == [1]
    assert library.get(ready).tier == "library"


def test_coins_of_a_failed_promotion_are_embedded_later(
    library: Library, ready: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        look(library)
        raise ModelUnavailable("out of memory")

    given = interrupted(library, monkeypatch, fail)
    assert library.promote([ready]).refused
    look(library)
    assert given == [1, 1]
    assert library.by_appearance([ready], "like", like=address(0)).unseen == 0


def test_the_background_embeds_approved_coins_in_reverse_promotion_order(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(shade(number, 11 * number) for number in range(5, 9))
    library.approve([address(number) for number in (5, 6)])
    seen = list[int]()

    def embed(images: Sequence[Image.Image]) -> np.ndarray:
        seen.extend(round(np.asarray(image)[..., 0].mean() / 11) for image in images)
        return np.eye(1, library.embedder.dimensions, dtype=np.float32).repeat(len(images), axis=0)

    monkeypatch.setattr(library.embedder, "embed_images", embed)
    look(library)
    assert seen == [8, 7, 5, 6]


def test_a_new_picture_is_sorted_last_until_it_is_embedded(library: Library) -> None:
    library.add([shade(7, 6)])
    found = library.by_appearance(library.addresses(PENDING), "like", like=address(0))
    assert (found.addresses[-1], found.unseen) == (address(7), 1)
    look(library)
    assert ordered(library, "like", like=address(0)) == [0, 7, 1, 2, 3, 4]


def test_incrementally_updated_scores_equal_recomputed_ones(library: Library) -> None:
    random = np.random.default_rng(5)
    library.add(shade(number, int(random.integers(0, 200))) for number in range(5, 20))
    look(library)
    for _ in range(6):
        some = [address(int(number)) for number in random.choice(20, 4, replace=False)]
        verb = (library.approve, library.send_back)[int(random.integers(0, 2))]
        verb(some)
        kept = ordered(library, "approved")
        library._pictures._looks = None
        assert ordered(library, "approved") == kept


def test_the_dashboard_embeds_pictures_in_the_background(root: Path) -> None:
    with open_library(root, embedder=RedAngleEmbedder()) as library:
        library.work_in_background()
        library.add([shade(0, 10)])
        assert eventually(lambda: library.by_appearance([address(0)], "unlike").unseen == 0)
