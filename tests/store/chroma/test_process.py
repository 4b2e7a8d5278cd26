"""A dead process is replaced."""

from pathlib import Path

import pytest

from tests.store.chroma.breakages import opened
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("eager_index", "comparison_in_own_process")]


@pytest.mark.usefixtures("chroma_in_own_process", "own_interpreter")
def test_a_dead_chroma_process_is_replaced_without_data_loss(
    root: Path, embedder: Hashed, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(root, embedder) as library:
        addresses = approved_with_caption(library, 1, 2, 3)
        library.promote(addresses[:1])
        assert library.wait_for_chroma(60)
        chroma = library._follower._chroma
        assert chroma is not None
        chroma._process.kill()
        chroma._process.wait(60)
        library.promote(addresses[1:])
        assert library.wait_for_chroma(60)
        assert "is rebuilt" not in caplog.text, "what it left was whole"
    chroma_agrees_with_the_sidecars(root, embedder)
