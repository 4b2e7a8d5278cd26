"""Memory-mapped matrix files give the same answers, follow every change, and belong to one model."""

import mmap
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from store.embedding.protocol import Vector
from store.errors import ModelUnavailable
from store.library import Library
from store.maintenance import doctor
from store.progress import Progress
from store.records import FACETS, Facet
from store.runtime import open_library
from store.search.query import Part, Query
from store.vectors import matrix_files
from store.vectors import rows as rows_module
from store.vectors.matrices import Matrices, VectorSnapshot, load
from tests.store.conftest import address, coin, fresh_root, written
from tests.store.hashed import Hashed

DIMENSIONS = 48
RANDOM = np.random.default_rng(3)


def some(number: int) -> dict[Facet, Vector]:
    own = np.random.default_rng(number).standard_normal((5, DIMENSIONS), dtype=np.float32)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    return {facet: own[place] for place, facet in enumerate(FACETS) if (number + place) % 3}


def contents(snapshot: VectorSnapshot) -> dict[str, dict[Facet, list[float]]]:
    return {
        one: {facet: own.tolist() for facet, own in snapshot.vectors(one).items()}
        for one in snapshot.addresses
    }


def products_of(snapshot: VectorSnapshot, facet: Facet, direction: Vector) -> dict[str, float]:
    out = np.empty(len(snapshot), np.float32)
    snapshot.products(facet, direction, out=out)
    return dict(zip(snapshot.addresses, out.tolist(), strict=True))


def bounds(snapshot: VectorSnapshot, vector: Vector) -> dict[str, list[float]]:
    """For each record the approximate products of every facet and of the combined vector, with bounds."""
    direction = rows_module.quantised(vector)
    errors = np.empty((len(FACETS) + 1, len(snapshot)), np.float32)
    for place, facet in enumerate(FACETS):
        snapshot.approximate(facet, direction, out=errors[place])
    snapshot.approximate_combined(direction, out=errors[-1])
    columns = np.vstack([errors, snapshot.errors, snapshot.combined_errors])
    return dict(zip(snapshot.addresses, columns.T.tolist(), strict=True))


@pytest.fixture
def matrices() -> Matrices:
    """Matrices of 40 records, some of which were removed or replaced later."""
    made = load(((f"local-{n}", some(n)) for n in range(40)), dimensions=DIMENSIONS, block_rows=16)
    made.update([("local-3", None), ("local-20", some(99)), ("local-39", None)], generation=7)
    return made


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use files of a few rows, so that a small library has several blocks and is worth saving."""
    monkeypatch.setattr(matrix_files, "_ROWS", 16)
    monkeypatch.setattr(matrix_files, "_WORTH", 1)


def test_mapped_matrices_equal_the_saved_ones(tmp_path: Path, matrices: Matrices, small_files: None) -> None:
    name = matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    mapped = matrix_files.load(tmp_path / name, fingerprint="hashed 1")
    before, after = matrices.snapshot(), mapped.snapshot()
    assert after.generation == 7
    assert len(after.segments) == 3
    assert contents(after) == contents(before)
    assert np.allclose(after.means, before.means, atol=1e-12)
    direction = RANDOM.standard_normal(DIMENSIONS, dtype=np.float32)
    for facet in FACETS:
        assert products_of(after, facet, direction) == products_of(before, facet, direction)
    assert bounds(after, direction) == bounds(before, direction)
    assert not matrix_files.is_worth_saving(after)


def test_a_save_that_is_cancelled_leaves_nothing(
    tmp_path: Path, matrices: Matrices, small_files: None
) -> None:
    ended = Progress(cancelled=True)
    assert matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1", progress=ended) == ""
    assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(not hasattr(mmap, "MADV_WILLNEED"), reason="nothing can be asked for here")
def test_rows_of_a_large_file_are_asked_for_alone_though_its_blocks_are_small(
    tmp_path: Path, matrices: Matrices, small_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "_SMALL", 16 * DIMENSIONS * 4)  # bytes of a block
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(rows_module.ReadAhead, "_ask", lambda self, first, end: asked.append((first, end)))
    place = tmp_path / matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="one")
    opened = matrix_files.load(place, fingerprint="one")
    assert opened is not None
    rows = np.array([1, 17, 18])
    found = opened.snapshot().rows(rows, "visual")
    assert np.array_equal(found, matrices.snapshot().rows(rows, "visual"))
    row = DIMENSIONS * 4
    assert asked == [(row, 2 * row), (17 * row, 19 * row)]


def test_changes_after_saving_are_applied_to_mapped_matrices(
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


def test_missing_files_and_files_of_another_model_are_not_loaded(tmp_path: Path, matrices: Matrices) -> None:
    place = tmp_path / matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    assert matrix_files.load(place, fingerprint="another") is None
    assert matrix_files.load(tmp_path / "nowhere", fingerprint="hashed 1") is None


def test_a_damaged_file_is_not_loaded(tmp_path: Path, matrices: Matrices) -> None:
    place = tmp_path / matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    for path in place.iterdir():
        whole = path.read_bytes()
        for spoiled in (
            b"",
            whole[:5],
            whole[:-100],
            whole.replace(b"}", b" ", 1),
            whole.replace(b"{", b"(", 1),
        ):
            path.write_bytes(spoiled)
            assert matrix_files.load(place, fingerprint="hashed 1") is None, (path.name, spoiled[:80])
        path.write_bytes(whole)
    assert matrix_files.load(place, fingerprint="hashed 1") is not None


def test_saved_matrices_are_synced_to_disk(
    tmp_path: Path, matrices: Matrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    sync, flush = os.fsync, np.memmap.flush
    monkeypatch.setattr(os, "fsync", lambda file: (synced.add(os.fstat(file).st_ino), sync(file)))
    monkeypatch.setattr(
        np.memmap, "flush", lambda made: (synced.add(Path(made.filename).stat().st_ino), flush(made))
    )
    place = tmp_path / matrix_files.save(matrices.snapshot(), tmp_path, fingerprint="hashed 1")
    assert synced >= {path.stat().st_ino for path in [tmp_path, place, *place.iterdir()]}


def found(library: Library, text: str) -> str:
    return library.search(Query((Part(text=text),))).hits[0].address


def filled(root: Path, *, coins: int) -> Library:
    library = open_library(fresh_root(root), embedder=Hashed())
    add(library, range(coins))
    return library


def add(library: Library, numbers: range) -> None:
    library.add(coin(number) for number in numbers)
    library.approve(map(address, numbers))
    for number in numbers:
        library.caption(address(number), caption=written(f"coin {number}"))
    assert not library.promote(map(address, numbers)).refused


def saved_folder(library: Library) -> Path:
    """Wait for the saver, and return the folder named in the catalog."""
    library._saver.worker.wait()
    return library.layout.matrices / library.catalog.meta(matrix_files.NAMED)


def test_a_library_opens_from_saved_matrices_and_finds_later_records(
    tmp_path: Path, small_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = filled(tmp_path / "root", coins=6)
    assert found(library, "coin 2 entity") == address(2)
    place = saved_folder(library)
    assert [path.name for path in library.layout.matrices.iterdir()] == [place.name]
    library.close()
    monkeypatch.setattr(matrix_files, "_WORTH", 100)
    library = open_library(tmp_path / "root", embedder=Hashed())
    assert found(library, "coin 2 entity") == address(2)
    assert [view.segment.is_mapped for view in library.snapshot().segments] == [True]
    add(library, range(6, 8))
    library.degrade([address(2)])
    assert found(library, "coin 7 entity") == address(7)
    assert address(2) not in [hit.address for hit in library.search(Query((Part(text="coin 2"),))).hits]
    library.close()


def test_matrix_files_newer_than_the_catalog_are_not_used(tmp_path: Path, small_files: None) -> None:
    with filled(tmp_path / "root", coins=2) as library:
        found(library, "coin 1 entity")
        saved_folder(library)
        library.catalog.set_meta("generation", "1")
        library._resident.release()
        assert not any(view.segment.is_mapped for view in library.snapshot().segments)
        assert found(library, "coin 1 entity") == address(1)


def test_leftovers_of_an_interrupted_save_are_removed_before_the_next_save(
    tmp_path: Path, small_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(tmp_path / "root", coins=1) as library:
        found(library, "coin 0 entity")
        kept = saved_folder(library)
        (library.layout.matrices / "1-0123abcd").mkdir()
        (library.layout.matrices / "mine").mkdir()  # belongs to the user
        there: list[str] = []

        def full(*_: object, **__: object) -> str:
            there.extend(path.name for path in library.layout.matrices.iterdir())
            raise OSError("no room")

        monkeypatch.setattr(matrix_files, "save", full)
        add(library, range(1, 3))
        assert found(library, "coin 1 entity") == address(1)
        saved_folder(library)
        assert sorted(there) == sorted([kept.name, "mine"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda place: (place / "errors.npy").unlink(),
        lambda place: place.rename(place.with_name("1-0123abcd")),
    ],
)
def test_missing_or_broken_matrix_files_are_rebuilt(
    tmp_path: Path, small_files: None, spoil: Callable[[Path], None]
) -> None:
    library = filled(tmp_path / "root", coins=3)
    found(library, "coin 1")
    spoil(saved_folder(library))
    library.close()
    library = open_library(tmp_path / "root", embedder=Hashed())
    assert found(library, "coin 1 entity") == address(1)
    assert (saved_folder(library) / "errors.npy").exists()
    assert len(list(library.layout.matrices.iterdir())) == 1
    library.close()


class FlakyEmbedder(Hashed):
    """Like an endpoint that returns nulls for some texts."""

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        found = super().embed_texts(texts)
        found[["null" in text for text in texts]] = np.nan
        return found


def test_a_record_with_an_invalid_vector_is_refused_and_search_still_works(tmp_path: Path) -> None:
    with open_library(fresh_root(tmp_path / "root"), embedder=FlakyEmbedder()) as library:
        add(library, range(1))
        library.add([coin(1)])
        library.approve([address(1)])
        library.caption(address(1), caption=written("null"))
        (refusal,) = library.promote([address(1)]).refused
        assert "hashed gave what is not 64 finite numbers of unit length" in refusal.reason
        assert library.get(address(1)).tier == "approved"
        assert found(library, "coin 0 entity") == address(0)
        with pytest.raises(ModelUnavailable, match="finite numbers"):
            found(library, "null")


def test_search_works_with_a_damaged_vector_and_repair_restores_it(tmp_path: Path) -> None:
    with filled(tmp_path / "root", coins=1) as library:
        assert found(library, "coin 0 entity") == address(0)
        add(library, range(1, 3))
        with library.catalog.writing() as db:
            db.execute(
                "UPDATE vectors SET vector = zeroblob(256) WHERE key IN (SELECT key FROM embeddings e "
                "JOIN records r ON r.id = e.record WHERE r.address = ? AND e.facet <> 'image')",
                [address(2)],
            )
        assert found(library, "coin 1 entity") == address(1)
        (finding,) = [each for each in doctor.check(library) if each.address]
        assert finding.address == address(2)
        assert not doctor.repair(library)
        assert found(library, "coin 2 entity") == address(2)
