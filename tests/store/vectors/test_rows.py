"""Blocks of vectors: the error bound of bytes, exact results found with them, and rows asked for together."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.embedding.protocol import Vector
from store.records import FACETS, Facet
from store.search.ranking import Ranking, rank
from store.search.similarities import Similarities
from store.vectors.matrices import USUAL, load
from store.vectors.rows import ReadAhead, products, quantise, quantised


def random_rows(kind: str, *, rows: int, dimensions: int, seed: int) -> Vector:
    random = np.random.default_rng(seed)
    found = random.standard_normal((rows, dimensions), dtype=np.float32)
    if kind == "few large numbers":  # as in CLIP vectors
        found[:, :3] *= 30
    if kind == "one number":
        found = np.eye(dimensions, dtype=np.float32)[random.integers(0, dimensions, rows)]
    if kind == "close together":
        found = found * np.float32(0.05) + found[:1]
    return found / np.linalg.norm(found, axis=1, keepdims=True)


kinds = st.sampled_from(["anywhere", "few large numbers", "one number", "close together"])


@settings(deadline=None, max_examples=60)
@given(kinds, kinds, st.sampled_from([1, 6, 48, 384, 768]), st.integers(0, 1_000), st.floats(0.01, 3))
def test_quantised_products_stay_within_the_error_bound(
    kind: str, question: str, dimensions: int, seed: int, length: float
) -> None:
    rows = random_rows(kind, rows=40, dimensions=dimensions, seed=seed)
    rows[7] = 0
    direction = quantised(
        random_rows(question, rows=1, dimensions=dimensions, seed=seed + 1)[0] * np.float32(length)
    )
    own = quantise(rows)
    found = products(own.codes, direction) * own.steps * direction.step
    truth = rows.astype(np.float64) @ direction.exact.astype(np.float64)
    assert np.all(np.abs(found - truth) <= direction.error_slope() * own.errors + direction.error_floor())
    assert found[7] == 0


@pytest.mark.parametrize("kind", ["anywhere", "few large numbers", "close together"])
def test_the_best_results_are_exact_although_few_rows_are_rescored(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.search.similarities.FEW", 1_000)
    rows = {
        facet: random_rows(kind, rows=9_000, dimensions=256, seed=number)
        for number, facet in enumerate(FACETS)
    }
    matrices = load(
        (
            (f"local-{row:05}", {facet: own[row] for facet, own in rows.items() if (row + len(facet)) % 4})
            for row in range(9_000)
        ),
        dimensions=256,
    )
    direction = random_rows(kind, rows=1, dimensions=256, seed=77)[0]
    directions: dict[Facet, Vector] = dict.fromkeys(FACETS, direction)
    weights: dict[Facet, float] = {"entity": 4, "context": 3, "visual": 2, "emotions": 1}
    similarities = Similarities(matrices.snapshot(), directions)
    first = rank(similarities, weights, top=20)
    scanned = set(similarities._scanned)
    few = int(similarities._exact.sum())
    exact = Similarities(matrices.snapshot(), directions)
    exact.rescore(np.arange(9_000))
    assert first.in_full >= 20
    assert _same(first, rank(exact, weights, top=20))
    if kind != "close together":
        assert few < 900
        assert not scanned  # only the combined vectors were
    moved: dict[Facet, float] = {**weights, "visual": 7}
    assert _same(rank(similarities, moved, top=20), rank(exact, moved, top=20))
    assert similarities._scanned - scanned <= {FACETS.index("visual")}


@pytest.mark.parametrize("dimensions", [1, 2, 6])  # so few that errors come close to their bounds
def test_approximate_scores_stay_within_their_error_bound(dimensions: int) -> None:
    random = np.random.default_rng(dimensions)
    rows = [random_rows("anywhere", rows=2_000, dimensions=dimensions, seed=number) for number in range(5)]
    rows[4][:, 0] += 40 * (dimensions > 1)  # after normalisation little varies in this facet
    rows[4] /= np.linalg.norm(rows[4], axis=1, keepdims=True)
    has = random.random((5, 2_000)) > 0.3
    direction = random_rows("anywhere", rows=1, dimensions=dimensions, seed=9)[0] * np.float32(0.9)
    library = (
        (f"local-{at:04}", {facet: rows[n][at] for n, facet in enumerate(FACETS) if has[n, at]})
        for at in range(2_000)
    )
    similarities = Similarities(
        load(library, dimensions=dimensions, block_rows=300).snapshot(), dict.fromkeys(FACETS, direction)
    )
    truth = np.stack([own.astype(np.float64) @ direction.astype(np.float64) for own in rows])
    truth = np.where(has, truth, np.mean(truth, axis=1, where=has)[:, None])
    combined = False
    for turn in range(60):
        gains = USUAL * 10
        gains[turn % 5] *= (1.0, 0.3, 2.5)[turn % 3]
        if turn % 4 == 3:
            gains = random.uniform(0, 1, 5)
        scores, wrong = similarities.approximate(gains.tolist())
        combined |= len(similarities._combined) > 0
        assert np.all(np.abs(scores - gains @ truth) <= wrong)
        if turn > 30:
            similarities.rescore(np.sort(random.permutation(2_000)[:20]))
    assert combined


def _same(one: Ranking, other: Ranking) -> bool:
    """Whether the results are equal, however many rows were compared in full to find them."""
    return one._replace(in_full=0) == other._replace(in_full=0)


ROW = 3_072  # bytes of a row of 768 numbers

needs_advice = pytest.mark.skipif(not hasattr(mmap, "MADV_WILLNEED"), reason="nothing can be asked for here")


class RecordingMap:
    """Stands in for the map, and notes what is asked of it."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def madvise(self, option: int, start: int, length: int) -> None:
        assert option == mmap.MADV_WILLNEED
        self.ranges.append((start, start + length))


@pytest.fixture
def matrix(tmp_path: Path) -> np.ndarray:
    path = tmp_path / "matrix.npy"
    np.save(path, np.arange(64 * 768, dtype=np.float32).reshape(64, 768))
    return np.asarray(np.load(path, mmap_mode="r"))


@needs_advice
@pytest.mark.usefixtures("large")
def test_rows_side_by_side_are_asked_for_together(matrix: np.ndarray) -> None:
    ahead, asked = ReadAhead(matrix[16:]), RecordingMap()
    ahead._map = asked
    ahead.ask(np.array([3, 4, 5, 20]))
    begin = 128 + 16 * ROW  # after the file's header
    expected = [(begin + 3 * ROW, begin + 6 * ROW), (begin + 20 * ROW, begin + 21 * ROW)]
    assert [end for _, end in asked.ranges] == [end for _, end in expected]
    for (start, _), (first, _) in zip(asked.ranges, expected, strict=True):
        assert start % mmap.PAGESIZE == 0
        assert 0 <= first - start < mmap.PAGESIZE
    ahead.ask(np.array([], np.intp))
    assert len(asked.ranges) == 2


@needs_advice
def test_a_small_matrix_is_asked_for_as_a_whole_once_in_ten_seconds(
    matrix: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead, asked = ReadAhead(matrix[16:]), RecordingMap()
    ahead._map = asked
    now = [100.0]
    monkeypatch.setattr("store.vectors.rows.time.monotonic", lambda: now[0])
    for at in (100.0, 109.0, 111.0):
        now[0] = at
        ahead.ask(np.array([3]))
    end = 128 + 64 * ROW
    assert [end for _, end in asked.ranges] == [end, end]
    assert all(start <= 128 + 16 * ROW for start, _ in asked.ranges)


@needs_advice
@pytest.mark.usefixtures("large")
def test_a_row_is_asked_for_each_time_since_the_system_may_have_dropped_it(matrix: np.ndarray) -> None:
    ahead, asked = ReadAhead(matrix[16:]), RecordingMap()
    ahead._map = asked
    ahead.ask(np.array([3]))
    ahead.ask(np.array([3]))
    assert asked.ranges[0] == asked.ranges[1]


@needs_advice
@pytest.mark.usefixtures("large")
def test_rows_are_asked_for_unless_the_last_ones_of_ten_seconds_came_from_memory(
    matrix: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead, asked = ReadAhead(matrix[16:]), RecordingMap()
    ahead._map = asked
    now = [100.0]
    monkeypatch.setattr("store.vectors.rows.time.monotonic", lambda: now[0])
    counts = []
    slow, quick = 0.01, 0.000_001
    for at, seconds in ((100, slow), (101, quick), (110, slow), (111, quick), (122, slow)):
        now[0] = at
        ahead.ask(np.array([3]))
        counts.append(len(asked.ranges))
        ahead.came(1, seconds)
    assert counts == [1, 2, 2, 3, 4]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix is one of a large library."""
    monkeypatch.setattr("store.vectors.rows._SMALL", 0)


@needs_advice
def test_the_system_takes_what_it_is_asked(matrix: np.ndarray) -> None:
    ahead = ReadAhead(matrix[16:])
    ahead.ask(np.arange(48))
    assert matrix[16:][47, 767] == 64 * 768 - 1
