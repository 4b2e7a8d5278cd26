"""Embedded pictures that the model finds similar are reported as well."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from store.catalog.filters import Filter
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, written
from tests.store.duplicates.copies import coin_with_drawing, drawing
from tests.store.hashed import Hashed

IN_LIBRARY, REMOVED, PENDING = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


class GreyscaleEmbedder(Hashed):
    """Embeds a picture as its 8 × 8 greyscale thumbnail."""

    fingerprint = "seeing 1"

    def embed_images(self, images: Sequence[Image.Image]) -> np.ndarray:
        greys = [np.asarray(image.convert("L").resize((8, 8)), np.float32).ravel() for image in images]
        rows = np.stack([grey - grey.mean() for grey in greys])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    """Two promoted coins with similar pictures, one removed again, and a third that was never embedded."""
    turned = drawing(0).rotate(2, fillcolor="gray")
    with open_library(root, embedder=GreyscaleEmbedder()) as library:
        library.add([coin_with_drawing(0), coin_with_drawing(1, turned), coin_with_drawing(2, drawing(0))])
        library.approve([IN_LIBRARY, REMOVED])
        for one in (IN_LIBRARY, REMOVED):
            library.caption(one, caption=written(one))
        assert library.promote([IN_LIBRARY, REMOVED]).refused == []
        library.degrade([REMOVED])
        yield library


def similar(library: Library, one: str) -> dict[str, float]:
    return {
        suspect.other: finding.confidence
        for suspect in library.duplicates.of(one)
        for finding in suspect.findings
        if finding.kind == "similar embedding"
    }


def test_a_coin_removed_from_the_library_is_compared_by_its_stored_vector(library: Library) -> None:
    assert set(similar(library, REMOVED)) == {IN_LIBRARY, PENDING}
    assert 0.6 <= similar(library, REMOVED)[IN_LIBRARY] <= 0.95


def test_a_record_is_compared_with_every_tier_but_not_with_itself(library: Library) -> None:
    library.reject([PENDING])
    assert set(similar(library, IN_LIBRARY)) == {REMOVED, PENDING}


def test_records_with_the_same_picture_share_its_vector(library: Library) -> None:
    assert similar(library, PENDING)[IN_LIBRARY] == pytest.approx(0.95, abs=0.002)


def test_a_different_picture_is_not_similar(library: Library) -> None:
    approved_with_caption(library, 5)
    library.promote([address(5)])
    assert similar(library, address(5)) == {}


def test_other_matches_are_shown_when_the_model_is_missing(library: Library) -> None:
    library.catalog.set_meta("model", "no such model")
    assert [finding.kind for finding in library.duplicates.of(PENDING)[0].findings] == ["exact picture"]


def test_likeness_by_embedding_alone_raises_badge_filter_and_order(library: Library) -> None:
    library.duplicates.examine()
    library.add([coin_with_drawing(3, drawing(7))])
    library.duplicates.examine()
    badges = library.duplicates.suspicions([IN_LIBRARY, REMOVED, PENDING, address(3)])
    assert set(badges) == {IN_LIBRARY, REMOVED, PENDING}
    alone = library.duplicates.suspicions([REMOVED])[REMOVED]
    assert alone.kind == "similar embedding"
    assert 0.6 <= alone.confidence < 1
    assert address(3) not in library.addresses(Filter(suspicious=True))
    assert [record.address for record in library.find(Filter(), sort="suspicious")][-1] == address(3)


def test_a_verdict_takes_the_badge_of_a_likeness_away(library: Library) -> None:
    library.duplicates.examine()
    others = [suspect.other for suspect in library.duplicates.of(REMOVED)]
    library.duplicates.judge(REMOVED, "different", others)
    assert REMOVED not in library.duplicates.suspicions([REMOVED])


def test_another_model_compares_every_picture_again(library: Library, root: Path) -> None:
    library.duplicates.examine()
    library.close()

    class BlindEmbedder(Hashed):
        fingerprint = "another one"

    with open_library(root, embedder=BlindEmbedder()) as another:
        another.duplicates.examine()
        with another.catalog.reading() as db:
            assert not db.execute("SELECT 1 FROM likenesses").fetchone()
