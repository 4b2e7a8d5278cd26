"""A caption that belongs to another picture is found among the correct ones."""

import numpy as np

from store.evaluation.caption_fit import disagreements
from store.records import Facet
from store.vectors.matrices import Vectors, load


def test_swapped_captions_come_first() -> None:
    random = np.random.default_rng(5)
    subjects = random.normal(0, 1, (60, 32))

    def near(subject: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        vector = subjects[subject] + random.normal(0, 1, 32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    swapped = {7: 30, 30: 7}
    facets: tuple[Facet, ...] = ("entity", "context")
    rows: list[tuple[str, Vectors]] = [
        (f"local-{n:02}", {"image": near(n), **{facet: near(swapped.get(n, n)) for facet in facets}})
        for n in range(60)
    ]
    found = disagreements(load(rows, dimensions=32).snapshot())
    assert {one.address for one in found[:2]} == {"local-07", "local-30"}
    assert found[0].fit < 1 < np.median([one.fit for one in found])


def test_a_very_small_library_has_no_disagreements() -> None:
    one = np.eye(1, 8, dtype=np.float32)[0]
    rows: list[tuple[str, Vectors]] = [("local-a", {"image": one, "entity": one})]
    assert disagreements(load(rows, dimensions=8).snapshot()) == []
