"""The entries of one kind, found by meaning, and by words and meaning together."""

import contextlib
import json
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from store.embedding import multilingual
from store.embedding.active_model import version_name
from store.embedding.protocol import ForeignReader, TokenEmbedder, Vector
from store.errors import ModelUnavailable, NotWritten
from store.memory.engine import fusion, listing
from store.memory.engine.errors import InvalidInput
from store.memory.engine.fusion import EntryHit
from store.memory.engine.kind import Row
from store.memory.engine.resident import TEXT, EntryScores, ResidentEntries, Where
from store.memory.engine.retrievals import KeptEntry, RetrievedText
from store.memory.engine.settings import MEASURED
from store.memory.engine.stored_entries import StoredEntries
from store.vectors.blocks import VectorSnapshot

log = logging.getLogger(__name__)


class Retrieved(Protocol):
    """An entry that was handed out, however it was found."""

    @property
    def row(self) -> Row:
        """The entry that was found."""

    @property
    def score(self) -> float:
        """How well it fits; a higher score comes first."""


class Entries(StoredEntries):
    """The entries of one kind, found by meaning, and by words and meaning together."""

    @property
    def least(self) -> float:
        """The score below which nothing answers a question: 0 with models it was not measured with."""
        return self.kind.least if self._model.name in MEASURED else 0.0

    def question(self, text: str) -> Vector:
        """The vector of a question; a long one takes longer to embed than to answer."""
        model = self._model.embedder
        key = version_name(model), text
        if (known := self._asked.get(key)) is None:
            known = self._asked[key] = np.asarray(model.embed_texts([text])[0], dtype=np.float32)
        return known

    def nearest(
        self, vector: Vector, *, n: int, where: Where | None = None, floor: float | None = None
    ) -> dict[str, float]:
        """The n entries with the highest cosine, exactly, none below `floor`. Best first, ties by id."""
        return self.scores(vector, where).best(n, floor=floor)

    def scores(self, vector: Vector, where: Where | None = None) -> EntryScores:
        """Every entry's cosine with this vector, and whether it passes the filters.

        Filters are the kind's own columns, `tags` where it has any, `since` and `until` in UNIX seconds.
        """
        snapshot = self.resident()
        if len(snapshot) and len(vector) != snapshot.dimensions:
            raise InvalidInput(f"a vector of {len(vector)} numbers was not made by {self.version}")
        cosines, passing = np.empty(len(snapshot), np.float32), np.ones(len(snapshot), np.bool_)
        if where:  # as one text, since rows take five times as long
            filters, values = listing.conditions(self.kind, "", where, None)
            query = f"SELECT json_group_array(id) FROM {self.kind.table} WHERE {filters}"
            passing = snapshot.mask(json.loads(self.database.row(query, values)[0]))
        snapshot.products(TEXT, vector, out=cosines)
        return EntryScores(snapshot.addresses, cosines, passing)

    def cosines(self, vector: Vector, ids: Iterable[str]) -> dict[str, float]:
        """The cosines of these entries with this vector; those without a vector are left out."""
        return {id: float(own @ vector) for id, own in self.resident().of(ids, TEXT).items()}

    def search(
        self, text: str, *, n: int, where: Where | None = None, floor: float | None = None
    ) -> list[tuple[Row, float]]:
        """The entries nearest in meaning with their cosines, best first."""
        found = self.nearest(self.question(text), n=n, where=where, floor=floor)
        return [(row, found[row["id"]]) for row in self.rows([*found])]

    def best(self, question: str, *, n: int, where: Where | None = None) -> list[EntryHit]:
        """The n entries that fit the question best by words and meaning together (`fusion.py`).

        By words alone, with `cosine` None, while the model is away.
        """
        return self.best_with(question, self.question_or_none(question), n=n, where=where)

    def best_with(
        self, question: str, vector: Vector | None, *, n: int, where: Where | None = None
    ) -> list[EntryHit]:
        """As `best`, for a question that is embedded already; by words alone without a vector."""
        where = where or {}
        never = {*self.never_recalled()}
        pool = max(n, fusion.POOL) + len(never)
        with self.database.reading() as db:
            words = fusion.word_shares(db, self.kind, question, where, limit=pool)
        cosines: dict[str, float] = {}
        if vector is not None:
            cosines = self.nearest(vector, n=pool, where=where)
            cosines |= self.cosines(vector, words.keys() - cosines)
        rows = self.rows([id for id in dict.fromkeys((*cosines, *words)) if id not in never])
        hits = fusion.fused(rows, self.kind, question, cosines=cosines, words=words)
        return (hits if vector is None else self._compared_by_token(question, hits))[:n]

    def _compared_by_token(self, question: str, hits: list[EntryHit]) -> list[EntryHit]:
        """The first ordered by late interaction, where kind and model have it and it reads the language."""
        model = self._model.embedder
        if not self.kind.has_token_states or not isinstance(model, TokenEmbedder) or self.not_read(question):
            return hits
        if isinstance(model, ForeignReader) and model.is_foreign(question):
            return hits  # its words are read by the model that reads English alone
        texts = {hit.row["id"]: str(hit.row[self.kind.text]) for hit in hits[: fusion.FIRST]}
        if self.can_write:
            self.add_token_states([*texts])
        states = fusion.stored_states(self.database, [*texts], model.name)
        lacking = [id for id in texts if id not in states]
        states |= zip(lacking, model.embed_tokens([texts[id] for id in lacking]), strict=True)
        return fusion.ordered(hits, model.embed_tokens([question])[0], states)

    def add_token_states(self, ids: Sequence[str]) -> None:
        """Compute what late interaction needs of these entries, so that no question waits for it.

        A full disk must not prevent an answer.
        """
        self.database.check_writable()
        model = self._model.embedder
        if self.kind.has_token_states and isinstance(model, TokenEmbedder):
            with contextlib.suppress(NotWritten):
                fusion.add_states(self.database, self.kind, ids, model)

    def not_read(self, text: str) -> str:
        """The sentence that says that this kind's model does not read the language of a text, or ""."""
        self.actor.check_login()
        return multilingual.not_read(text, self._model.name)

    def caveat(self, question: str) -> str:
        """Why an answer may lack what is stored: the fault of the file, or the language; or ""."""
        return self.fault or self.not_read(question)

    def for_context(self, question: str, *, n: int, where: Where | None = None) -> list[EntryHit]:
        """The pinned entries that pass the filters, and then the n others that fit the question best."""
        vector = self.question_or_none(question)
        found = self.best_with(question, vector, n=n + len(self.pinned(where)), where=where)
        return self.pinned_first(question, vector, found, n=n, where=where)

    def pinned_first(
        self, question: str, vector: Vector | None, found: Sequence[EntryHit], *, n: int,
        where: Where | None = None,
    ) -> list[EntryHit]:  # fmt: skip
        """The pinned entries that pass the filters, and then the first n others of what was found."""
        pinned = self.pinned(where)
        known = {hit.row["id"]: hit for hit in found}
        rows = self.rows([id for id in pinned if id not in known])
        cosines = {} if vector is None else self.cosines(vector, [row["id"] for row in rows])
        hits = fusion.fused(rows, self.kind, question, cosines=cosines, words={})
        known |= {hit.row["id"]: hit for hit in hits}
        others = [hit for hit in found if hit.row["id"] not in pinned]
        return [*(known[id] for id in pinned if id in known), *others[:n]]

    def pinned(self, where: Where | None = None) -> list[str]:
        """The entries that are in every context and pass these filters, oldest first."""
        return self._recalled("pinned", where)

    def never_recalled(self, where: Where | None = None) -> list[str]:
        """The entries that are in no context and pass these filters, oldest first."""
        return self._recalled("never", where)

    def _recalled(self, state: str, where: Where | None) -> list[str]:
        filters, values = listing.conditions(self.kind, "", where or {}, None)
        query = (
            f"SELECT id FROM {self.kind.table} WHERE {filters} AND id IN "
            "(SELECT id FROM recall WHERE kind = ? AND state = ?) ORDER BY rowid"
        )
        return [row[0] for row in self.database.rows(query, [*values, self.kind.name, state])]

    def question_or_none(self, text: str) -> Vector | None:
        """The vector of a question; None, with the reason in the log, while the model is away."""
        try:
            return self.question(text)
        except ModelUnavailable as error:
            log.warning("%s is searched by words alone: %s", self.kind.name, error)
            return None

    def log_retrieval(
        self,
        question: str,
        hits: Sequence[Retrieved],
        *,
        scope: str,
        n: int = 0,
        where: Where | None = None,
        threshold: float | None = None,
    ) -> None:
        """Log what was handed out for this question, and keep it as a context, if the settings ask for it.

        `n`, `where` and `threshold` (percent) are what was asked for, so that it can be asked again.
        """
        self.actor.check_login()
        self.keep_context(
            question, [(hit.row["id"], _likeness(hit)) for hit in hits],
            scope=scope, n=n, where=where or {}, threshold=threshold,
        )  # fmt: skip
        texts = [RetrievedText(hit.row["id"], hit.score, hit.row[self.kind.text]) for hit in hits]
        self._retrievals.record(question, texts, scope=scope, actor=self.actor.name, at=self.clock())

    @property
    def keeps_contexts(self) -> bool:
        """Whether the setting says to keep what is handed out."""
        return self._retrievals.keeps_contexts

    def keep_context(
        self,
        question: str,
        found: Sequence[tuple[str, float]],
        *,
        scope: str,
        n: int,
        where: Where,
        threshold: float | None = None,
    ) -> None:
        """Keep these ids with their present versions and their scores, if the setting says so."""
        self.actor.check_login()
        if not self.keeps_contexts:
            return
        query = "SELECT id, version FROM changes WHERE tbl = ? AND id IN (SELECT value FROM json_each(?))"
        ids = json.dumps([id for id, _ in found])
        versions = dict(self.database.rows(query, [self.kind.table, ids]))
        entries = [KeptEntry(id, versions.get(id, 0), score) for id, score in found]
        self._retrievals.keep(
            question, entries, scope=scope, n=n, where=where, threshold=threshold, actor=self.actor,
            at=self.clock(),
        )  # fmt: skip

    def resident(self) -> VectorSnapshot:
        """The vectors of all entries that have one, by id (`of`, facet TEXT), as they are now."""
        model = self.version
        resident = self._residents.get(model)  # another thread may erase, or change the model, at any moment
        if resident is None:
            self._residents.clear()
            resident = self._residents[model] = ResidentEntries(self.kind, model=model)
        with self.database.one_moment() as db:
            return resident.snapshot(db)


def _likeness(hit: Retrieved) -> float:
    """The cosine, 0 for one that words alone found; of a context's entry its score."""
    return hit.cosine or 0.0 if isinstance(hit, EntryHit) else hit.score
