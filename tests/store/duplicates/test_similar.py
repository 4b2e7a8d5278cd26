"""Where pictures are embedded, those that the model takes for the same are told as well."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, written
from tests.store.duplicates.copies import drawing, drawn
from tests.store.hashed import Hashed

IN_LIBRARY, DEGRADED, PENDING = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


class Seeing(Hashed):
    """A model that sees a picture as 8 by 8 greys."""

    fingerprint = "seeing 1"

    def embed_images(self, images: Sequence[Image.Image]) -> np.ndarray:
        greys = [np.asarray(image.convert("L").resize((8, 8)), np.float32).ravel() for image in images]
        rows = np.stack([grey - grey.mean() for grey in greys])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def seen(root: Path) -> Iterator[Library]:
    """Two promoted coins with much the same picture, one degraded again; a third was never embedded."""
    turned = drawing(0).rotate(2, fillcolor="gray")
    with open_library(root, embedder=Seeing()) as library:
        library.add([drawn(0), drawn(1, turned), drawn(2, drawing(0))])
        library.approve([IN_LIBRARY, DEGRADED])
        for one in (IN_LIBRARY, DEGRADED):
            library.caption(one, caption=written(one))
        assert library.promote([IN_LIBRARY, DEGRADED]).refused == []
        library.degrade([DEGRADED])
        yield library


def similar(library: Library, one: str) -> dict[str, float]:
    return {
        suspect.other: finding.confidence
        for suspect in library.duplicates.of(one)
        for finding in suspect.findings
        if finding.kind == "similar embedding"
    }


def test_a_degraded_coin_is_compared_by_its_kept_vector(seen: Library) -> None:
    assert set(similar(seen, DEGRADED)) == {IN_LIBRARY, PENDING}
    assert 0.6 <= similar(seen, DEGRADED)[IN_LIBRARY] <= 0.95


def test_a_record_is_similar_to_others_in_every_tier_and_not_to_itself(seen: Library) -> None:
    seen.reject([PENDING])
    assert set(similar(seen, IN_LIBRARY)) == {DEGRADED, PENDING}


def test_the_same_picture_has_the_same_vector_whichever_record_it_was_embedded_for(seen: Library) -> None:
    assert similar(seen, PENDING)[IN_LIBRARY] == pytest.approx(0.95, abs=0.002)


def test_another_picture_is_not_similar(seen: Library) -> None:
    approved_with_caption(seen, 5)
    seen.promote([address(5)])
    assert similar(seen, address(5)) == {}


def test_a_model_that_is_missing_keeps_nobody_from_seeing_the_rest(seen: Library) -> None:
    seen.catalog.set_meta("model", "no such model")
    assert [finding.kind for finding in seen.duplicates.of(PENDING)[0].findings] == ["exact picture"]
