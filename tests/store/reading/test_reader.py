"""A reader, and the views of it that people have."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from store.embedding.active_model import KeptVectors
from store.embedding.protocol import Embedder
from store.library import Library
from store.permissions import Actor
from store.progress import Progress
from store.runtime import open_library, open_reader
from tests.store.hashed import Hashed
from tests.store.other_systems import three_tier_library

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_closing_a_view_leaves_the_search_of_others_open(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    with open_reader(library.layout.root) as reader:
        monkeypatch.setattr(reader._searches, "close", lambda: closed.append("search"))
        reader.for_actor(Actor("Ann")).close()
        assert not closed
        assert reader.counts()
    assert closed == ["search"]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[Embedder, int], Library]]:
    """A library whose files another program wrote, so that no coin of it has a vector."""
    with ExitStack() as stack:

        def open_with(embedder: Embedder, coins: int) -> Library:
            three_tier_library(tmp_path, range(coins))
            return stack.enter_context(open_library(tmp_path, embedder=embedder))

        yield open_with


def test_coins_wait_until_the_model_has_embedded_them(opened: Callable[[Embedder, int], Library]) -> None:
    library = opened(Hashed(), 2)
    assert library.waiting_for_vectors() == ""
    with library.catalog.writing() as db:
        db.execute("DELETE FROM embeddings")
    assert library.waiting_for_vectors() == (
        "2 coins of the library wait for vectors by hashed: "
        "doctor --repair (System status: Repair) computes them"
    )
    library.embed_all(library.embedder, progress=Progress())
    assert library.waiting_for_vectors() == ""


def test_the_missing_model_is_the_reason_if_there_is_none(opened: Callable[[Embedder, int], Library]) -> None:
    sentence = opened(KeptVectors("openclip:ViT-L-14/openai", 768), 1).waiting_for_vectors()
    assert sentence.startswith("1 coin of the library waits for vectors, because the model is unavailable: ")
    assert "openclip:ViT-L-14/openai is not on this machine" in sentence
