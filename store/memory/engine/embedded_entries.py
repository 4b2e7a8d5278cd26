"""The entries of one kind with the model that embeds them."""

from collections.abc import Sequence

from store.embedding.active_model import ActiveModel
from store.embedding.embedding_cache import ModelVectors, embed_texts
from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable
from store.memory.engine import vector_cache
from store.memory.engine.entries import Entries


class EmbeddedEntries(Entries):
    """Entries that all have, or will have, a vector of one model."""

    _model: ActiveModel

    @property
    def model(self) -> str:
        """The name of this kind's embedding model."""
        return self._model.name

    @property
    def embedder(self) -> Embedder:
        """The model; its weights are loaded at first use."""
        return self._model.embedder

    def embedder_or_none(self) -> Embedder | None:
        """The model; None while it is away."""
        try:
            return self._model.embedder
        except ModelUnavailable:
            return None

    def embed(self, texts: Sequence[str]) -> tuple[list[bytes], str]:
        """The float32 bytes of each text's vector, and the model that made them: this kind's, when it began.

        Another process may choose another model meanwhile.
        """
        embedder = self.embedder
        return embed_texts(texts, embedder), embedder.name

    def to_embed(self) -> int:
        """How many entries have no vector of this kind's model yet."""
        with self.database.reading() as db:
            row = db.execute(
                f"SELECT count(*) FROM {self.kind.table} WHERE vector IS NULL OR embedding_model IS NOT ?",
                [self.model],
            ).fetchone()
        return int(row[0])

    def vectors_by_model(self) -> list[ModelVectors]:
        """Every model that has vectors, earlier models included."""
        with self.database.reading() as db:
            return vector_cache.by_model(db, self.kind, model=self.model)
