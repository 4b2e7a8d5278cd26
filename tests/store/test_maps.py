"""Maps: what is alike lies together, what was placed stays, new records come between their neighbours."""

from collections.abc import Callable

import numpy as np
import pytest

from store import maps
from store.errors import InvalidRecord
from store.library import Library
from store.maps import Map, map_of
from store.progress import Progress
from store.records import FACETS
from store.search.blocks import Snapshot
from store.search.vectors import Matrices, load
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
    """Ninety records of three kinds; some lack emotions."""
    rows = []
    for number in range(90):
        record = one(number % 3)
        if number % 4 == 0:
            del record["emotions"]
        rows.append((f"local-{number:02}", record))
    return load(rows, dimensions=32)  # type: ignore[arg-type]


def apart(chart: Map) -> float:
    """How far the groups lie from each other, in widths of a group."""
    group = np.array([int(address[-2:]) % 3 for address in chart.addresses])
    middles = np.array([chart.points[group == number].mean(axis=0) for number in range(3)])
    width = max(float(chart.points[group == number].std(axis=0).max()) for number in range(3))
    nearest = min(float(np.linalg.norm(middles[a] - middles[b])) for a, b in ((0, 1), (0, 2), (1, 2)))
    return nearest / width


@pytest.mark.parametrize("space", ["entity", "emotions", "fused"])
def test_what_is_alike_lies_together_at_once_and_arranged(groups: Matrices, space: maps.Space) -> None:
    snapshot = groups.snapshot()
    flat = maps.flat(snapshot, space, maps.directions(snapshot, space))
    arranged = maps.neighbourly(snapshot, space, progress=Progress())
    assert arranged is not None
    for chart in (flat, arranged):
        assert len(chart.addresses) == len(chart.points) == (67 if space == "emotions" else 90)
        assert np.abs(chart.points).max() <= 1.5
        assert apart(chart) > 2


def test_new_records_come_between_their_neighbours_and_no_old_one_moves(groups: Matrices) -> None:
    snapshot = groups.snapshot()
    known = maps.neighbourly(snapshot, "entity", progress=Progress())
    assert known is not None
    groups.update([("local-90", one(0)), ("local-91", one(1)), ("local-05", None)])  # type: ignore[list-item]
    after = maps.placed(known, groups.snapshot())
    before = dict(zip(known.addresses, known.points.tolist(), strict=True))
    now = dict(zip(after.addresses, after.points.tolist(), strict=True))
    assert set(now) == set(before) - {"local-05"} | {"local-90", "local-91"}
    assert all(now[address] == before[address] for address in now if address in before)
    assert apart(after) > 2


def test_a_cancelled_arrangement_is_none(groups: Matrices) -> None:
    progress = Progress()
    progress.cancel()
    assert maps.neighbourly(groups.snapshot(), "entity", progress=progress) is None


def test_two_records_are_no_map_and_there_are_no_other_spaces(library: Library) -> None:
    with pytest.raises(InvalidRecord, match="3 coins"):
        map_of(library, "entity")
    with pytest.raises(InvalidRecord, match="sound"):
        map_of(library, "sound")


def test_the_job_keeps_a_map_and_brings_it_up_to_date(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(8)))
    assert map_of(library, "entity", "tsne") is None

    def arrange(**options: object) -> Map:
        job = library.jobs.start("map", name="arrange", options={"space": "entity", **options})
        assert library.jobs.wait(job.id, timeout=60)
        found = map_of(library, "entity", "tsne")
        assert found is not None
        return found

    first = arrange()
    library.promote(captioned(8))
    seen = map_of(library, "entity", "tsne")
    assert seen is not None
    assert set(seen.addresses) == {address(number) for number in range(9)}  # before anything was kept
    kept = arrange()
    assert kept.points.tolist() == seen.points.tolist()
    assert kept.points[:8].tolist() == first.points.tolist()
    assert arrange(anew=True).at > first.at


def test_a_large_pca_is_kept_but_for_what_changed_since(
    library: Library, captioned: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "KEPT_FLAT", 4)
    monkeypatch.setattr(maps, "LASTING", 4)
    library.promote(captioned(*range(6)))
    before = map_of(library, "entity")
    assert before is not None
    laid_out: list[int] = []
    own = maps._rows

    def counted(snapshot: Snapshot, space: maps.Space, rows: np.ndarray) -> np.ndarray:
        laid_out.extend(rows.tolist())
        return own(snapshot, space, rows)

    monkeypatch.setattr(maps, "_rows", counted)
    again = map_of(library, "entity")
    assert again is not None
    assert (again.addresses, again.points.tolist()) == (before.addresses, before.points.tolist())
    assert laid_out == []
    library.caption(address(0), caption={"entity": "a volcano of cheese"})
    library.delete([address(1)])
    library.promote(captioned(9))
    after = map_of(library, "entity")
    assert after is not None
    assert {after.addresses[row] for row in laid_out} == {address(0), address(9)}
    with library.catalog.writing() as db:
        db.execute("DELETE FROM maps WHERE name = 'flat entity'")
    anew = map_of(library, "entity")
    assert anew is not None
    assert anew.addresses == after.addresses
    assert np.allclose(anew.points, after.points, atol=1e-6)
