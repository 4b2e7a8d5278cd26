"""The resident matrices: the content of a snapshot, the effect of changes, and concurrent readers."""

import threading
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.embedding.protocol import Vector
from store.errors import UnknownRecord
from store.progress import Progress
from store.records import FACETS, Facet
from store.vectors.matrices import Matrices, Vectors, VectorSnapshot, load
from tests.length import repeated

DIMENSIONS = 4
DIRECTION = np.array([1, 2, 3, 4], np.float32)


def unit(*numbers: float) -> Vector:
    vector = np.array([*numbers, *[0.0] * (DIMENSIONS - len(numbers))], np.float32)
    return vector / np.linalg.norm(vector)


def contents(snapshot: VectorSnapshot) -> dict[str, dict[Facet, list[float]]]:
    """The content of a snapshot as a plain dict."""
    assert len(snapshot.addresses) == len(snapshot) == snapshot.present.shape[1]
    found = {}
    for row, address in enumerate(snapshot.addresses):
        own = snapshot.vectors(address)
        assert [facet in own for facet in FACETS] == snapshot.present[:, row].tolist()
        found[address] = {facet: vector.tolist() for facet, vector in own.items()}
    return found


def as_lists(vectors: Mapping[Facet, Vector]) -> dict[Facet, list[float]]:
    return {facet: vector.tolist() for facet, vector in vectors.items()}


def products(snapshot: VectorSnapshot, facet: Facet) -> dict[str, float]:
    out = np.empty(len(snapshot), np.float32)
    snapshot.products(facet, DIRECTION, out=out)
    return dict(zip(snapshot.addresses, out.tolist(), strict=True))


def test_matrices_are_loaded_from_catalog_bytes() -> None:
    rows: list[tuple[str, Vectors]] = [
        ("first", {"image": unit(1).tobytes(), "entity": unit(0, 1).tobytes(), "visual": None}),
        ("second", {"entity": unit(1, 1).tobytes()}),
    ]
    matrices = load(rows, dimensions=DIMENSIONS, generation=7)
    assert matrices.snapshot().generation == 7
    assert contents(matrices.snapshot()) == {
        "first": {"image": [1, 0, 0, 0], "entity": [0, 1, 0, 0]},
        "second": {"entity": unit(1, 1).tolist()},
    }
    assert products(matrices.snapshot(), "image") == {"first": 1.0, "second": 0.0}


def test_an_empty_library_has_no_rows() -> None:
    snapshot = load([], dimensions=DIMENSIONS).snapshot()
    assert len(snapshot) == 0
    assert snapshot.addresses == ()
    assert snapshot.present.shape == (5, 0)
    assert products(snapshot, "image") == {}


def test_each_change_increments_the_generation_unless_one_is_given() -> None:
    matrices = load([], dimensions=DIMENSIONS, generation=5)
    matrices.update([("coin", {})])
    assert matrices.snapshot().generation == 6
    matrices.update([("coin", None)], generation=12)
    assert matrices.snapshot().generation == 12


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(np.ones(3, np.float32), id="wrong length"),
        pytest.param(np.array([np.nan, 0, 0, 0], np.float32), id="not a number"),
        pytest.param(np.array([0, 0, 0, 0], np.float32), id="zero"),
        pytest.param(np.array([2, 0, 0, 0], np.float32), id="not unit"),
        pytest.param(unit(1).tobytes()[:-1], id="cut short"),
    ],
)
def test_an_invalid_vector_is_skipped_and_the_rest_of_the_update_is_applied(
    vector: Vector | bytes,
) -> None:
    matrices = load([("old", {"image": unit(1)})], dimensions=DIMENSIONS)
    matrices.update([("new", {"image": unit(1)}), ("old", None), ("bad", {"context": vector})])
    assert contents(matrices.snapshot()) == {"new": {"image": [1, 0, 0, 0]}, "bad": {}}
    assert matrices.unusable == [("bad", "context")]


def test_damaged_vectors_are_skipped_on_loading() -> None:
    good = unit(1).tobytes()
    damaged = np.array([np.inf, 0, 0, 0], np.float32).tobytes()
    matrices = load(
        [("a", {"image": good, "entity": good[:7]}), ("b", {"image": damaged, "entity": good})],
        dimensions=DIMENSIONS,
    )
    assert matrices.unusable == [("a", "entity"), ("b", "image")]
    assert contents(matrices.snapshot()) == {"a": {"image": [1, 0, 0, 0]}, "b": {"entity": [1, 0, 0, 0]}}
    assert products(matrices.snapshot(), "image") == {"a": 1.0, "b": 0.0}


def test_the_vectors_of_an_unknown_record_raise_an_error() -> None:
    with pytest.raises(UnknownRecord, match="nowhere is not in the library"):
        Matrices(dimensions=DIMENSIONS).snapshot().vectors("nowhere")


def test_equal_vectors_have_equal_products_in_every_row() -> None:
    random = np.random.default_rng(0)
    rows = random.standard_normal((1_003, 768), dtype=np.float32)
    rows[::17] = rows[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    snapshot = load(
        [(str(number), {"image": row}) for number, row in enumerate(rows)], dimensions=768, block_rows=100
    ).snapshot()
    found = np.empty(1_003, np.float32)
    snapshot.products("image", random.standard_normal(768, dtype=np.float32), out=found)
    assert len(set(found[::17].tolist())) == 1


def test_changing_one_record_repeatedly_uses_no_more_memory() -> None:
    matrices = load([(address, {"image": unit(1)}) for address in "abc"], dimensions=DIMENSIONS, block_rows=8)
    for number in range(1, 1_000):
        matrices.update([("b", {"image": unit(number, 1)})])
    snapshot = matrices.snapshot()
    assert len(snapshot.segments) <= 2
    assert contents(snapshot)["b"] == {"image": unit(999, 1).tolist()}
    assert set(snapshot.addresses) == set("abc")


vectors_of_a_record = st.dictionaries(
    st.sampled_from(FACETS), st.builds(unit, *[st.integers(1, 9)] * DIMENSIONS), max_size=5
)
changes = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.none() | vectors_of_a_record), max_size=4), max_size=20
)


@settings(deadline=None)
@given(changes)
def test_matrices_and_earlier_snapshots_match_a_plain_dict(
    updates: list[list[tuple[str, dict[Facet, Vector] | None]]],
) -> None:
    matrices = Matrices(dimensions=DIMENSIONS, block_rows=3)
    expected: dict[str, dict[Facet, list[float]]] = {}
    seen = []
    for update in updates:
        matrices.update(update)
        for address, vectors in update:
            if vectors is None:
                expected.pop(address, None)
            else:
                expected[address] = as_lists(vectors)
        seen.append((matrices.snapshot(), dict(expected)))
    for snapshot, then in seen:
        assert contents(snapshot) == then


@pytest.mark.slow
def test_concurrent_readers_never_see_a_partial_update() -> None:
    group = [f"coin {number}" for number in range(10)]
    matrices = load([(address, {"image": unit(1)}) for address in group], dimensions=DIMENSIONS, block_rows=4)
    finished = threading.Event()
    torn: list[list[float]] = []
    read = [0, 0, 0]

    def reader(number: int) -> None:
        while not finished.is_set() or not read[number]:
            snapshot = matrices.snapshot()
            found = products(snapshot, "image")
            if len(set(found.values())) != 1 or sorted(found) != sorted(group):
                torn.append(list(found.values()))
            read[number] += 1

    threads = [threading.Thread(target=reader, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for version in range(1, repeated(250, least=50)):
        same: Vectors = {"image": unit(1, version)}
        matrices.update([("passing", same), *((address, same) for address in group), ("passing", None)])
    finished.set()
    for thread in threads:
        thread.join()
    assert not torn
    assert all(read)


def test_a_change_lists_the_records_of_its_own_block_alone() -> None:
    matrices = load(
        [(str(number), {"image": unit(1, number)}) for number in range(6)],
        dimensions=DIMENSIONS,
        block_rows=2,
    )
    before = matrices.snapshot()
    lists = [view.row_of for view in before.segments]
    assert before.rows_of(["5", "nobody", "0"]) == [(5, "5"), (0, "0")]
    matrices.update([("2", None)])
    after = matrices.snapshot()
    assert [view.row_of is known for view, known in zip(after.segments, lists, strict=True)] == [
        True,
        False,
        True,
    ]
    assert after.rows_of(["5", "2", "3"]) == [(4, "5"), (2, "3")]
    assert before.rows_of(["2"]) == [(2, "2")], "an earlier snapshot stays as it is"


def test_many_records_are_marked_as_a_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [(str(number), {"image": unit(1)}) for number in range(9)]
    snapshot = load(records, dimensions=DIMENSIONS, block_rows=4).snapshot()
    asked = ["7", "nobody", "0", "3"]
    few = snapshot.mask(asked)
    monkeypatch.setattr("store.vectors.matrices._MANY_NAMED", 0)
    assert snapshot.mask(asked).tolist() == few.tolist()
    assert np.flatnonzero(few).tolist() == [0, 3, 7]


def test_reading_ahead_of_a_search_counts_every_row() -> None:
    snapshot = load(
        [(str(number), {"image": unit(1)}) for number in range(9)], dimensions=DIMENSIONS
    ).snapshot()
    progress = Progress(len(snapshot))
    snapshot.read(progress=progress)
    assert progress.done == 9
