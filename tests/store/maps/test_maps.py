"""Maps place similar records together, keep existing positions, and put new records near their neighbours."""

from collections.abc import Callable

import numpy as np
import pytest

from store.errors import InvalidRecord
from store.library import Library
from store.maps import Map, Maps, Space, layout, maps
from store.maps.layout import interpolate, pca_directions, project, tsne_map, updated_map
from store.progress import Progress
from store.records import FACETS
from store.vectors.matrices import Matrices, VectorSnapshot, load
from tests.store.conftest import address

pytestmark = pytest.mark.usefixtures("without_chroma")

RANDOM = np.random.default_rng(8)
MIDDLES = RANDOM.standard_normal((3, 32))


def one(group: int) -> dict[str, np.ndarray]:
    own = MIDDLES[group] + 0.3 * RANDOM.standard_normal((5, 32))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    return {facet: own[place].astype(np.float32) for place, facet in enumerate(FACETS)}


@pytest.fixture
def groups() -> Matrices:
    """Ninety records in three groups; some have no emotions."""
    rows = []
    for number in range(90):
        record = one(number % 3)
        if number % 4 == 0:
            del record["emotions"]
        rows.append((f"local-{number:02}", record))
    return load(rows, dimensions=32)  # type: ignore[arg-type]


def points_by_address(chart: Map) -> dict[str, list[float]]:
    return dict(zip(chart.addresses, chart.points.tolist(), strict=True))


def separation(chart: Map) -> float:
    """The smallest distance between two groups, divided by the width of a group."""
    group = np.array([int(address[-2:]) % 3 for address in chart.addresses])
    middles = np.array([chart.points[group == number].mean(axis=0) for number in range(3)])
    width = max(float(chart.points[group == number].std(axis=0).max()) for number in range(3))
    nearest = min(float(np.linalg.norm(middles[a] - middles[b])) for a, b in ((0, 1), (0, 2), (1, 2)))
    return nearest / width


@pytest.mark.parametrize("space", ["entity", "emotions", "fused"])
def test_similar_records_are_placed_together_in_both_layouts(groups: Matrices, space: Space) -> None:
    snapshot = groups.snapshot()
    nothing = Map(space, "pca", (), np.empty((0, 2), np.float32))
    flat = updated_map(nothing, snapshot, project(snapshot, space, pca_directions(snapshot, space)))
    arranged = tsne_map(snapshot, space, progress=Progress())
    assert arranged is not None
    for chart in (flat, arranged):
        assert len(chart.addresses) == len(chart.points) == (67 if space == "emotions" else 90)
        assert np.abs(chart.points).max() <= 1.5
        assert separation(chart) > 2


def test_new_records_are_placed_near_their_neighbours_and_old_ones_stay(groups: Matrices) -> None:
    snapshot = groups.snapshot()
    known = tsne_map(snapshot, "entity", progress=Progress())
    assert known is not None
    groups.update([("local-90", one(0)), ("local-91", one(1)), ("local-05", None)])  # type: ignore[list-item]
    later = groups.snapshot()
    after = updated_map(known, later, interpolate(known, later))
    before, now = points_by_address(known), points_by_address(after)
    assert set(now) == set(before) - {"local-05"} | {"local-90", "local-91"}
    assert all(now[address] == before[address] for address in now if address in before)
    assert separation(after) > 2


def test_a_cancelled_layout_returns_none(groups: Matrices) -> None:
    progress = Progress()
    progress.cancel()
    assert tsne_map(groups.snapshot(), "entity", progress=progress) is None


def test_a_map_needs_three_coins_and_a_known_space(library: Library) -> None:
    with pytest.raises(InvalidRecord, match="3 coins"):
        library.maps.of("entity")
    with pytest.raises(InvalidRecord, match="sound"):
        library.maps.of("sound")


def test_the_map_job_stores_a_map_and_updates_it(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(8)))
    assert library.maps.of("entity", "tsne") is None

    def arrange(**options: object) -> Map:
        job = library.jobs.start("map", name="arrange", options={"space": "entity", **options})
        assert library.jobs.wait(job.id, timeout=60)
        found = library.maps.of("entity", "tsne")
        assert found is not None
        return found

    first = arrange()
    library.promote(captioned(8))
    seen = library.maps.of("entity", "tsne")
    assert set(seen.addresses) == {address(number) for number in range(9)}  # before the map was stored
    kept = arrange()
    assert kept.points.tolist() == seen.points.tolist()
    assert kept.points[:8].tolist() == first.points.tolist()
    second = arrange(from_scratch=True)
    assert second.at > first.at


def reopened_maps(library: Library) -> Maps:
    """The library's maps as after a restart: only what is stored."""
    return Maps(library.catalog, library._model, snapshot=library.snapshot)


def test_a_stored_pca_map_recomputes_only_changed_records(
    library: Library, captioned: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "KEPT_FLAT", 4)
    monkeypatch.setattr(maps, "LASTING", 4)
    library.promote(captioned(*range(6)))
    before = library.maps.of("entity")
    assert before is not None
    laid_out: list[str] = []
    own = layout.space_vectors

    def counted(snapshot: VectorSnapshot, space: Space, rows: np.ndarray) -> np.ndarray:
        laid_out.extend(layout.addresses_of(snapshot, rows))
        return own(snapshot, space, rows)

    monkeypatch.setattr(layout, "space_vectors", counted)
    again = reopened_maps(library).of("entity")
    assert (again.addresses, again.points.tolist()) == (before.addresses, before.points.tolist())
    assert laid_out == []
    library.caption(address(0), caption={"entity": "a volcano of cheese"})
    library.delete([address(1)])
    library.promote(captioned(9))
    after = reopened_maps(library).of("entity")
    assert after is not None
    assert sorted(laid_out) == sorted([address(0), address(9)])
    with library.catalog.writing() as db:
        db.execute("DELETE FROM maps WHERE name = 'flat entity'")
    reopened = reopened_maps(library).of("entity")
    assert reopened is not None
    assert points_by_address(reopened).keys() == points_by_address(after).keys()
    assert all(
        np.allclose(points_by_address(reopened)[name], place, atol=1e-6)
        for name, place in points_by_address(after).items()
    )


def test_a_map_follows_the_library_without_moving_other_points(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(5)))
    before = library.maps.of("fused")
    assert before is not None
    library.promote(captioned(5))
    library.degrade([address(0)])
    after = library.maps.of("fused")
    assert after is not None
    assert points_by_address(after).keys() == {address(number) for number in range(1, 6)}
    assert all(
        points_by_address(after)[address(number)] == points_by_address(before)[address(number)]
        for number in range(1, 5)
    )
    assert after.at == before.at
    library.promote(captioned(*range(6, 12)))  # twice as many records need new axes
    assert library.maps.of("fused").at > before.at


def test_a_new_coin_keeps_its_position_when_its_neighbours_are_removed(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(6)))
    job = library.jobs.start("map", name="arrange", options={"space": "entity"})
    assert library.jobs.wait(job.id, timeout=60)
    library.promote(captioned(6))
    before = library.maps.of("entity", "tsne")
    library.degrade([address(number) for number in range(3)])
    after = library.maps.of("entity", "tsne")
    assert before is not None
    assert after is not None
    assert points_by_address(after) == {
        address(number): points_by_address(before)[address(number)] for number in range(3, 7)
    }


def test_a_different_record_stays_in_view_among_identical_ones() -> None:
    same = one(0)
    matrices = load([(f"local-{n}", same) for n in range(7)], dimensions=32)  # type: ignore[list-item, misc]
    axes = pca_directions(matrices.snapshot(), "entity")
    matrices.update([("local-7", one(1))])  # type: ignore[list-item]
    points = project(matrices.snapshot(), "entity", axes)(np.arange(8))
    assert np.abs(points).max() <= 2
