"""What is new is embedded in the background; one unreadable picture is named and keeps no other from it."""

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


class Choosy(Hashed):
    """Refuses pictures by their content, or all of them."""

    refused: bytes | None = None
    is_away = False

    def embed_images(self, images: Sequence[Image.Image]) -> np.ndarray:
        if self.is_away:
            raise ModelUnavailable("the model is away")
        if any(np.asarray(image).tobytes() == self.refused for image in images):
            raise ValueError("this picture is too much for me")
        return super().embed_images(images)


@pytest.fixture
def model() -> Choosy:
    return Choosy()


@pytest.fixture
def library(root: Path, model: Choosy) -> Iterator[Library]:
    with open_library(root, embedder=model) as library:
        library.add(coin(number) for number in COINS)
        yield library


def look(library: Library) -> None:
    library._prefetcher.embed_next(Progress())


def embedded(library: Library) -> set[str]:
    with library.catalog.reading() as db:
        return {
            one
            for one in map(address, range(20))
            if picture_vector(db, one, embedder=library.embedder) is not None
        }


def set_apart(library: Library) -> dict[str, str]:
    """Addresses with the reasons, as the page about health has them."""
    rows = [line.partition(": ") for line in library.status().unreadable]
    return {row[0]: row[2] for row in rows}


def missing(path: Path) -> None:
    path.unlink()


def another(path: Path) -> None:
    path.write_bytes(b"no picture at all")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [missing, another, folder], ids=lambda spoil: spoil.__name__)
def test_one_unreadable_picture_is_named_and_the_others_are_embedded(
    library: Library, spoil: Callable[[Path], None]
) -> None:
    spoil(library.picture(BROKEN))
    look(library)
    assert embedded(library) == {*map(address, COINS)} - {BROKEN}
    assert set_apart(library).keys() == {BROKEN}
    assert "picture" in set_apart(library)[BROKEN]


def test_it_is_tried_again_when_its_file_changes_and_not_before(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = library.picture(BROKEN)
    whole = path.read_bytes()
    path.write_bytes(b"cut short")
    look(library)
    read: list[Path] = []
    file_hash = prefetch.file_hash
    monkeypatch.setattr(prefetch, "file_hash", lambda path: read.append(path) or file_hash(path))
    look(library)
    library.add([coin(8)])
    look(library)
    assert path not in read
    path.write_bytes(whole)
    look(library)
    assert path in read
    assert embedded(library) == {*map(address, range(9))}
    assert set_apart(library) == {}


def test_it_is_tried_again_after_a_while_though_its_file_looks_the_same(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(prefetch, "_AGAIN", 0.0)
        file_hash = prefetch.file_hash
        patch.setattr(prefetch, "file_hash", lambda path: None if BROKEN in path.name else file_hash(path))
        look(library)
        assert set_apart(library).keys() == {BROKEN}
    look(library)
    assert BROKEN in embedded(library)


def test_a_picture_that_the_model_alone_cannot_take_is_set_apart(library: Library, model: Choosy) -> None:
    model.refused = np.asarray(Image.open(library.picture(BROKEN))).tobytes()
    look(library)
    assert embedded(library) == {*map(address, COINS)} - {BROKEN}
    assert "too much for me" in set_apart(library)[BROKEN]


def test_a_model_that_is_away_counts_nothing_as_seen(library: Library, model: Choosy) -> None:
    model.is_away = True
    with pytest.raises(ModelUnavailable, match="away"):
        look(library)
    assert set_apart(library) == {}
    model.is_away = False
    look(library)
    assert embedded(library) == {*map(address, COINS)}


def test_a_record_rejected_meanwhile_is_not_named_any_more(
    library: Library, model: Choosy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefetch, "_AGAIN", 0.0)
    model.refused = np.asarray(Image.open(library.picture(BROKEN))).tobytes()
    look(library)
    assert set_apart(library).keys() == {BROKEN}
    library.reject([BROKEN])
    look(library)
    assert set_apart(library) == {}


def test_a_picture_that_came_back_is_compared_as_well(library: Library) -> None:
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
