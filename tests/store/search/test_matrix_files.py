"""Matrices kept in files: they answer as from memory, follow every change, and are never another's."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from store.library import Library
from store.records import FACETS, Facet
from store.search import matrix_files
from store.search.blocks import Snapshot, Vector
from store.search.query import Part, Query
from store.search.vectors import Matrices, load
from tests.store.conftest import address, coin, furnished, written
from tests.store.hashed import Hashed

DIMENSIONS = 48
RANDOM = np.random.default_rng(3)


def some(number: int) -> dict[Facet, Vector]:
    own = np.random.default_rng(number).standard_normal((5, DIMENSIONS), dtype=np.float32)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    return {facet: own[place] for place, facet in enumerate(FACETS) if (number + place) % 3}


def contents(snapshot: Snapshot) -> dict[str, dict[Facet, list[float]]]:
    return {
        one: {facet: own.tolist() for facet, own in snapshot.vectors(one).items()}
        for one in snapshot.addresses
    }


def asked(snapshot: Snapshot, facet: Facet, direction: Vector) -> dict[str, float]:
    out = np.empty(len(snapshot), np.float32)
    snapshot.products(facet, direction, out=out)
    return dict(zip(snapshot.addresses, out.tolist(), strict=True))


@pytest.fixture
def matrices() -> Matrices:
    """Of 40 records, some of them gone or replaced since."""
    made = load(((f"local-{n}", some(n)) for n in range(40)), dimensions=DIMENSIONS, block_rows=16)
    made.update([("local-3", None), ("local-20", some(99)), ("local-39", None)], generation=7)
    return made


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a few rows, so that a small library has several blocks and is worth saving."""
    monkeypatch.setattr(matrix_files, "_ROWS", 16)
    monkeypatch.setattr(matrix_files, "_WORTH", 1)


def test_what_was_saved_is_what_is_mapped(tmp_path: Path, matrices: Matrices, small_files: None) -> None:
    name = matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    mapped = matrix_files.load(tmp_path / name, fingerprint="hashed 1")
    assert mapped is not None
    before, after = matrices.snapshot(), mapped.snapshot()
    assert after.generation == 7
    assert len(after.slabs) == 3
    assert contents(after) == contents(before)
    assert np.allclose(after.means, before.means, atol=1e-12)
    direction = RANDOM.standard_normal(DIMENSIONS, dtype=np.float32)
    for facet in FACETS:
        assert asked(after, facet, direction) == asked(before, facet, direction)
    assert not matrix_files.is_worth_saving(after)


def test_what_changes_after_saving_is_there_at_once(
    tmp_path: Path, matrices: Matrices, small_files: None
) -> None:
    name = matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    mapped = matrix_files.load(tmp_path / name, fingerprint="hashed 1")
    assert mapped is not None
    changes = [("local-new", some(50)), ("local-5", None), ("local-6", some(51))]
    for one in (mapped, matrices):
        one.update(changes, generation=8)
    assert contents(mapped.snapshot()) == contents(matrices.snapshot())
    assert np.allclose(mapped.snapshot().means, matrices.snapshot().means, atol=1e-12)
    assert matrix_files.is_worth_saving(mapped.snapshot())


def test_files_of_another_model_or_cut_short_are_none(tmp_path: Path, matrices: Matrices) -> None:
    place = tmp_path / matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    assert matrix_files.load(place, fingerprint="another") is None
    vectors = place / "entity.vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-100])
    assert matrix_files.load(place, fingerprint="hashed 1") is None
    assert matrix_files.load(tmp_path / "nowhere", fingerprint="hashed 1") is None


def found(library: Library, text: str) -> str:
    return library.search(Query((Part(text=text),))).hits[0].address


def filled(root: Path, *, coins: int) -> Library:
    library = Library.open(furnished(root), embedder=Hashed())
    add(library, range(coins))
    return library


def add(library: Library, numbers: range) -> None:
    library.add(coin(number) for number in numbers)
    library.approve(map(address, numbers))
    for number in numbers:
        library.caption(address(number), caption=written(f"coin {number}"))
    assert not library.promote(map(address, numbers)).refused


def saved(library: Library) -> Path:
    """The folder that the catalog names, once the saver is done."""
    thread = library._saver._thread
    assert thread is not None
    thread.join()
    return library.layout.matrices / library.catalog.meta(matrix_files.NAMED)


def test_a_library_opens_on_its_own_files_and_finds_what_came_later(
    tmp_path: Path, small_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = filled(tmp_path / "root", coins=6)
    assert found(library, "coin 2 entity") == address(2)
    place = saved(library)
    assert [path.name for path in library.layout.matrices.iterdir()] == [place.name]
    library.close()
    monkeypatch.setattr(matrix_files, "_WORTH", 100)
    library = Library.open(tmp_path / "root", embedder=Hashed())
    assert found(library, "coin 2 entity") == address(2)
    assert [slab.block.is_mapped for slab in library.snapshot().slabs] == [True]
    add(library, range(6, 8))
    library.degrade([address(2)])
    assert found(library, "coin 7 entity") == address(7)
    assert address(2) not in [hit.address for hit in library.search(Query((Part(text="coin 2"),))).hits]
    library.close()


@pytest.mark.parametrize(
    "spoil",
    [lambda place: (place / "errors.npy").unlink(), lambda place: place.rename(place.with_name("other"))],
)
def test_files_that_are_gone_or_broken_are_made_anew(
    tmp_path: Path, small_files: None, spoil: Callable[[Path], None]
) -> None:
    library = filled(tmp_path / "root", coins=3)
    found(library, "coin 1")
    spoil(saved(library))
    library.close()
    library = Library.open(tmp_path / "root", embedder=Hashed())
    assert found(library, "coin 1 entity") == address(1)
    assert (saved(library) / "errors.npy").exists()
    assert len(list(library.layout.matrices.iterdir())) == 1
    library.close()
