"""New pictures are embedded in the background; an unreadable one is reported and does not stop the others."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from store.embedding import prefetch
from store.embedding.embedding_cache import picture_vector
from store.errors import ModelUnavailable
from store.library import Library
from store.progress import Progress
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")

COINS = range(8)  # one batch
BROKEN = address(3)


class SelectiveEmbedder(Hashed):
    """Refuses one picture by its content, or every picture."""

    refused: bytes | None = None
    is_away = False

    def embed_images(self, images: Sequence[Image.Image]) -> np.ndarray:
        if self.is_away:
            raise ModelUnavailable("the model is away")
        if any(np.asarray(image).tobytes() == self.refused for image in images):
            raise ValueError("this picture is too much for me")
        return super().embed_images(images)


@pytest.fixture
def model() -> SelectiveEmbedder:
    return SelectiveEmbedder()


@pytest.fixture
def library(root: Path, model: SelectiveEmbedder) -> Iterator[Library]:
    with open_library(root, embedder=model) as library:
        library.add(coin(number) for number in COINS)
        yield library


def run_prefetcher(library: Library) -> None:
    library._prefetcher.embed_next(Progress())


def embedded(library: Library) -> set[str]:
    with library.catalog.reading() as db:
        return {
            one
            for one in map(address, range(20))
            if picture_vector(db, one, embedder=library.embedder) is not None
        }


def unreadable_pictures(library: Library) -> dict[str, str]:
    """The unreadable pictures by address, with the reasons shown on the page System status."""
    rows = [line.partition(": ") for line in library.status().unreadable]
    return {row[0]: row[2] for row in rows}


def delete_file(path: Path) -> None:
    path.unlink()


def replace_with_junk(path: Path) -> None:
    path.write_bytes(b"no picture at all")


def replace_with_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil", [delete_file, replace_with_junk, replace_with_folder], ids=lambda spoil: spoil.__name__
)
def test_an_unreadable_picture_is_reported_and_the_others_are_embedded(
    library: Library, spoil: Callable[[Path], None]
) -> None:
    spoil(library.picture(BROKEN))
    run_prefetcher(library)
    assert embedded(library) == {*map(address, COINS)} - {BROKEN}
    assert unreadable_pictures(library).keys() == {BROKEN}
    assert "picture" in unreadable_pictures(library)[BROKEN]


def test_an_unreadable_picture_is_retried_only_when_its_file_changes(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = library.picture(BROKEN)
    whole = path.read_bytes()
    path.write_bytes(b"cut short")
    run_prefetcher(library)
    read: list[Path] = []
    file_hash = prefetch.file_hash
    monkeypatch.setattr(prefetch, "file_hash", lambda path: read.append(path) or file_hash(path))
    run_prefetcher(library)
    library.add([coin(8)])
    run_prefetcher(library)
    assert path not in read
    path.write_bytes(whole)
    run_prefetcher(library)
    assert path in read
    assert embedded(library) == {*map(address, range(9))}
    assert unreadable_pictures(library) == {}


def test_an_unreadable_picture_is_retried_after_a_while(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(prefetch, "_AGAIN", 0.0)
        file_hash = prefetch.file_hash
        patch.setattr(prefetch, "file_hash", lambda path: None if BROKEN in path.name else file_hash(path))
        run_prefetcher(library)
        assert unreadable_pictures(library).keys() == {BROKEN}
    run_prefetcher(library)
    assert BROKEN in embedded(library)


def test_a_picture_that_the_model_refuses_is_reported(library: Library, model: SelectiveEmbedder) -> None:
    model.refused = np.asarray(Image.open(library.picture(BROKEN))).tobytes()
    run_prefetcher(library)
    assert embedded(library) == {*map(address, COINS)} - {BROKEN}
    assert "too much for me" in unreadable_pictures(library)[BROKEN]


def test_an_unavailable_model_marks_no_picture_as_unreadable(
    library: Library, model: SelectiveEmbedder
) -> None:
    model.is_away = True
    with pytest.raises(ModelUnavailable, match="away"):
        run_prefetcher(library)
    assert unreadable_pictures(library) == {}
    model.is_away = False
    run_prefetcher(library)
    assert embedded(library) == {*map(address, COINS)}


def test_a_rejected_record_is_no_longer_reported(
    library: Library, model: SelectiveEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefetch, "_AGAIN", 0.0)
    model.refused = np.asarray(Image.open(library.picture(BROKEN))).tobytes()
    run_prefetcher(library)
    assert unreadable_pictures(library).keys() == {BROKEN}
    library.reject([BROKEN])
    run_prefetcher(library)
    assert unreadable_pictures(library) == {}


def test_a_restored_picture_is_compared(library: Library) -> None:
    path = library.picture(BROKEN)
    whole = path.read_bytes()
    path.unlink()
    library.duplicates.examine()
    path.write_bytes(whole)
    assert library.duplicates.examine() == 1
    assert library.duplicates.examine() == 0
    with library.catalog.reading() as db:
        image_hash = library.get(BROKEN).image_hash
        assert db.execute("SELECT 1 FROM fingerprints WHERE image_hash = ?", [image_hash]).fetchone()
