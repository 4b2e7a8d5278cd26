"""One scale for all facets: fixed figures, scores independent of the results, additive contributions."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from store.embedding.protocol import Vector
from store.errors import InvalidRecord
from store.library import Library
from store.records import FACETS, Facet
from store.search import calibration
from store.search.calibration import Calibration, Calibrations
from store.search.query import Part, Query
from store.search.ranking import RAW
from store.search.search import Search
from store.vectors.matrices import Matrices, load
from tests.store.hashed import Hashed

ALL: dict[Facet, float] = dict.fromkeys(FACETS, 1.0)


class SeparateModalities(Hashed):
    """Text vectors share a direction, as in real models; picture vectors do not."""

    cross_modal_scale = 1.1

    def embed_texts(self, texts: list[str]) -> Vector:  # type: ignore[override]
        found = super().embed_texts(texts) + np.float32(0.2)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def matrices() -> Matrices:
    random = np.random.default_rng(4)

    def record(number: int) -> Iterator[tuple[Facet, Vector]]:
        for place, facet in enumerate(FACETS):
            if place < 3 or (number + place) % 3:
                vector = random.standard_normal(64) + 0.15 * place
                yield facet, (vector / np.linalg.norm(vector)).astype(np.float32)

    return load(((f"local-{number:03}", dict(record(number))) for number in range(300)), dimensions=64)


@pytest.fixture(scope="module")
def figures(matrices: Matrices) -> Calibration:
    return calibration.passing(matrices.snapshot(), SeparateModalities())


def test_calibrated_cosines_of_a_reference_question_have_mean_0_and_deviation_1(
    matrices: Matrices, figures: Calibration
) -> None:
    search = Search(matrices, embedder=SeparateModalities())
    scores: dict[Facet, list[float]] = {facet: [] for facet in FACETS}
    for text in calibration.reference_questions():
        parts = (Part(text=text),)
        for facet in FACETS:
            query = Query(parts, weights={facet: 1}, top=1_000)
            scores[facet] += [hit.score for hit in search.search(query, scale=figures.scale(parts)).hits]
    for facet, found in scores.items():
        assert np.mean(found) == pytest.approx(0, abs=1e-4), facet
        assert np.std(found) == pytest.approx(1, abs=1e-4), facet


def test_a_calibrated_score_does_not_depend_on_the_other_results(
    matrices: Matrices, figures: Calibration
) -> None:
    search = Search(matrices, embedder=SeparateModalities())
    parts = (Part(text="a frog"), Part(text="rain", weight=-0.5), Part(like="local-007"))
    query = Query(parts, weights=ALL, top=300)
    scale = figures.scale(parts)
    whole = {hit.address: hit.score for hit in search.search(query, scale=scale).hits}
    among = [f"local-{number:03}" for number in range(0, 300, 7)]
    few = {hit.address: hit.score for hit in search.search(query, among=among, scale=scale).hits}
    first = {hit.address: hit.score for hit in search.search(replace(query, top=5), scale=scale).hits}
    assert len(few) == 42  # without the example
    assert all(whole[address] == score for address, score in [*few.items(), *first.items()])
    assert list(first) == list(whole)[:5]


def test_calibrated_contributions_add_up_and_cosines_are_unchanged(
    matrices: Matrices, figures: Calibration
) -> None:
    search = Search(matrices, embedder=SeparateModalities())
    parts = (Part(text="a frog"), Part(text="rain", weight=-1))
    query = Query(parts, weights=ALL, top=300)
    raw = {hit.address: hit for hit in search.search(query).hits}
    for hit in search.search(query, scale=figures.scale(parts)).hits:
        assert sum(given.contribution for given in hit.facets.values()) == pytest.approx(hit.score, abs=1e-9)
        assert [given.cosine for given in hit.facets.values()] == [
            given.cosine for given in raw[hit.address].facets.values()
        ]


def test_a_mixed_query_averages_scales_and_leaves_unused_facets_raw(figures: Calibration) -> None:
    text, picture = figures.scale([Part(text="frog")]), figures.scale([Part(image=b"x")])
    both = figures.scale([Part(text="frog"), Part(image=b"x", facets=("image",))])
    assert both.centre[0] == pytest.approx((text.centre[0] + picture.centre[0]) / 2)
    assert both.centre[1:] == text.centre[1:]
    minus = figures.scale([Part(text="frog", weight=-2)])
    assert minus.centre == tuple(-centre for centre in text.centre)
    assert minus.spread == text.spread
    silent = figures.scale([Part(text="frog", facets=("entity",))])
    assert (silent.centre[0], silent.spread[0]) == (RAW.centre[0], RAW.spread[0])


def test_a_small_library_cannot_be_calibrated_and_says_why(library: Library) -> None:
    assert library.calibration.in_force() is None
    with pytest.raises(InvalidRecord, match="200 coins"):
        library.calibration.measure()
    with pytest.raises(InvalidRecord, match="not calibrated"):
        library.search(Query((Part(text="frog"),), calibrated=True))


def test_a_calibration_stays_in_force_until_measured_again(
    library: Library, matrices: Matrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "LEAST_RECORDS", 0)
    room = Calibrations(library.catalog, library._model, snapshot=matrices.snapshot)
    made = room.measure(actor="ann")
    assert (made.version, made.actor, made.records) == (1, "ann", 300)
    assert library.calibration.in_force() == room.in_force() == made
    assert room.measure().version == 2
    assert library.calibration.in_force() != made
