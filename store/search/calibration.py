"""The usual range of each facet's cosines: fixed figures that bring all facets to one scale.

A text is closer to texts than to pictures of the same thing (CLIP's modality gap), so equal weights do not
have equal effect. A calibrated search uses (cosine - mean) / deviation instead of a cosine, with mean and
deviation over a fixed set of queries and all records of the library: for texts the hundred of
reference_questions.txt, for pictures and examples up to a hundred of the library's records, chosen by their
addresses. The figures are stored with a version and only change on request, never with the results, or moving
a slider would change unrelated scores.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import Catalog
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Embedder, Vector
from store.errors import InvalidRecord
from store.records import FACETS, Facet
from store.search.query import Part, Query
from store.search.ranking import RAW, Scale
from store.vectors.matrices import VectorSnapshot
from store.vectors.weights import Kind

LEAST_RECORDS = 200  # below, the figures say more about these records than about the model
_OWN = 100  # records that are asked like pictures and like examples
_COMPARED = 5_000  # records that each question is compared with
_FLAT = 1e-6

Figures = Mapping[Kind, Mapping[Facet, tuple[float, float]]]  # mean and deviation


@dataclass(frozen=True, slots=True)
class Calibration:
    """The figures of one model over one state of a library."""

    version: int
    model: str
    made_at: float  # UNIX seconds
    actor: str
    records: int  # of the library at that time
    questions: str  # hash of the reference questions
    figures: Figures

    def scale(self, parts: Iterable[Part]) -> Scale:
        """The scale for a query of these parts; a mixture is between the figures of its parts."""
        parts = [part for part in parts if part.weight]
        centres, spreads = list(RAW.centre), list(RAW.spread)
        for number, facet in enumerate(FACETS):
            parts_measured = [
                (part.weight, *self.figures[part.kind][facet])
                for part in parts
                if facet in part.facets and facet in self.figures.get(part.kind, {})
            ]
            if total := sum(abs(weight) for weight, _, _ in parts_measured):
                centres[number] = sum(weight * mean for weight, mean, _ in parts_measured) / total
                spreads[number] = sum(abs(weight) * spread for weight, _, spread in parts_measured) / total
        return Scale(tuple(centres), tuple(spreads))


def reference_questions() -> list[str]:
    """The texts that represent what people search for."""
    return resources.files("store.search").joinpath("reference_questions.txt").read_text("utf-8").splitlines()


def measure(snapshot: VectorSnapshot, embedder: Embedder) -> Figures:
    """Mean and deviation of every facet's cosines for each kind of query."""
    texts = embedder.embed_texts(reference_questions())
    rows = sorted(snapshot.addresses, key=lambda one: sha256(one.encode()).digest())[:_COMPARED]
    own = {facet: _rows(snapshot, facet, rows) for facet in FACETS}
    few = {facet: found[:_OWN] for facet, found in own.items()}
    across = embedder.cross_modal_scale
    pictures = few["image"]
    directions: dict[Kind, dict[Facet, Vector]] = {
        "text": {facet: texts * across if facet == "image" else texts for facet in FACETS},
        "image": {facet: pictures if facet == "image" else pictures * across for facet in FACETS},
        "like": few,
    }
    return {
        kind: {
            facet: _spread(questions, own[facet], apart=kind != "text")
            for facet, questions in of.items()
            if len(own[facet]) and len(questions)
        }
        for kind, of in directions.items()
    }


def passing(snapshot: VectorSnapshot, embedder: Embedder) -> Calibration:
    """Current figures, stored nowhere."""
    figures = measure(snapshot, embedder)
    return Calibration(0, embedder.name, time.time(), "", len(snapshot), "", figures)


class Calibrations:
    """`library.calibration`: the stored figures, and new measurements."""

    def __init__(
        self, catalog: Catalog, model: ActiveModel, *, snapshot: Callable[[], VectorSnapshot]
    ) -> None:
        self._catalog = catalog
        self._model = model
        self._snapshot = snapshot

    def in_force(self) -> Calibration | None:
        """The latest figures for the library's model; None if there are none, or the library is too small."""
        with self._catalog.reading() as db:
            first = "SELECT count(*) FROM (SELECT 1 FROM records WHERE tier = 'library' LIMIT ?)"
            if db.execute(first, [LEAST_RECORDS]).fetchone()[0] < LEAST_RECORDS:
                return None
            row = db.execute(
                "SELECT * FROM calibrations WHERE fingerprint = ? ORDER BY version DESC LIMIT 1",
                [self._model.embedder.fingerprint],
            ).fetchone()
        return _read(row) if row else None

    def scale(self, query: Query, figures: Calibration | None = None) -> Scale:
        """The scale of a query's cosines: by these figures, or the latest. Raises InvalidRecord without."""
        if not query.calibrated:
            return RAW
        figures = figures or self.in_force()
        if figures is None:
            raise InvalidRecord(
                "this library is not calibrated for its model yet: `calibrate` measures it, "
                f"from {LEAST_RECORDS} coins on"
            )
        return figures.scale(query.parts)

    def measure(self, *, actor: str = "") -> Calibration:
        """Measure this library with its model, for use from now on. Raises InvalidRecord if too small."""
        self._catalog.check_writable()
        snapshot, embedder = self._snapshot(), self._model.embedder
        if len(snapshot) < LEAST_RECORDS:
            raise InvalidRecord(
                f"a library can be calibrated from {LEAST_RECORDS} coins on; this one holds {len(snapshot)}"
            )
        figures = json.dumps(measure(snapshot, embedder))
        questions = sha256("\n".join(reference_questions()).encode()).hexdigest()[:12]
        with self._catalog.writing() as db:
            row = db.execute(
                "INSERT INTO calibrations (model, fingerprint, at, who, records, questions, figures) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *",
                [
                    embedder.name, embedder.fingerprint, time.time(), actor or self._catalog.actor.name,
                    len(snapshot), questions, figures,
                ],
            ).fetchone()  # fmt: skip
        return _read(row)


def _read(row: sqlite3.Row) -> Calibration:
    figures: Any = {
        kind: {facet: tuple(figure) for facet, figure in of.items()}
        for kind, of in json.loads(row["figures"]).items()
    }
    return Calibration(
        row["version"], row["model"], row["at"], row["who"], row["records"], row["questions"], figures
    )


def _rows(snapshot: VectorSnapshot, facet: Facet, addresses: Iterable[str]) -> Vector:
    found = [own[facet] for address in addresses if facet in (own := snapshot.vectors(address))]
    return np.stack(found) if found else np.empty((0, snapshot.dimensions), np.float32)


def _spread(questions: Vector, rows: Vector, *, apart: bool) -> tuple[float, float]:
    cosines: NDArray[np.float64] = (questions @ rows.T).astype(np.float64)
    if apart:  # what a record has with itself says nothing about others
        cosines = cosines[cosines < 1 - 1e-4]
    if not cosines.size:
        return 0.0, 1.0
    deviation = float(cosines.std())
    return float(cosines.mean()), deviation if deviation > _FLAT else 1.0
