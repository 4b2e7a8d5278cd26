"""The verbs that keep a library in order: its model, its vectors, Chroma, and files changed outside."""

import threading

from store.chroma.follower import LibraryFollower
from store.embedding import embedding_cache, reembed
from store.embedding.active_model import KeptVectors
from store.embedding.embedding_cache import ModelVectors
from store.embedding.protocol import Embedder
from store.errors import InvalidRecord
from store.progress import Progress
from store.reading.reader import Reader
from store.tags import taxonomy_file
from store.writing import trash
from store.writing.journal import Journal
from store.writing.reconcile import Fault, reconcile


class LibraryUpkeep(Reader):
    """What `Library` does to its files and vectors without a decision on records."""

    def _make_shared(self) -> None:
        super()._make_shared()
        self._journal = Journal(self.catalog, self.layout, self._disk)
        self._follower: LibraryFollower | None = None  # in the process that writes (`store/runtime.py`)
        self._erasing = threading.Lock()
        self._found: list[Fault] = []  # files that cannot be taken in

    def _changed(self) -> None:
        """Tell the followers that something changed."""

    def embed_all(self, embedder: Embedder, *, progress: Progress) -> bool:
        """Embed what has no vector of this model, then make it the library's model; False if cancelled."""
        self.catalog.check_writable()
        with self.catalog.lock:
            self._journal.finish_all()
        done = reembed.embed_all(self.catalog, self.layout, embedder, progress=progress)
        if done:
            self._model.use(embedder)
            self._changed()
        return done

    def use_kept_vectors(self, model: KeptVectors) -> None:
        """Make a model that is not on this machine the library's, with the vectors that are stored of it."""
        self.catalog.check_writable()
        reembed.use_kept(self.catalog, self.layout, model)
        self._model.use(model)
        self._changed()

    def delete_vectors(self, model: str, *, actor: str = "") -> ModelVectors | None:
        """Delete every vector of a model that is not in use; returns how many, None if there were none.

        Cannot be undone; the history says who did it and when. Raises InvalidRecord for the model in use.
        """
        found = next((one for one in self.vectors_by_model() if one.model == model), None)
        if found and found.is_in_use:
            raise InvalidRecord(f"{model} is the model of this library; choose another one first: model NAME")
        if found:
            with self.catalog.writing() as db:
                embedding_cache.delete_vectors(db, found, actor=actor or self.actor_name)
        return found

    def wait_for_chroma(self, timeout: float | None = None) -> bool:
        """Wait until Chroma has every decision (True), fails, or takes too long (False)."""
        return self._follower is None or self._follower.wait(timeout)

    def follow_chroma(self, progress: Progress | None = None, *, patience: float | None = None) -> str:
        """As `ChromaFollower.follow`; "" while another process writes."""
        return self._follower.follow(progress, patience=patience) if self._follower else ""

    def check_chroma(self) -> list[str]:
        """Differences between Chroma and the catalog, one sentence each; none if another process writes."""
        self.catalog.actor.check_login()
        return self._follower.check() if self._follower else []

    def rebuild_chroma(self) -> None:
        """Rebuild Chroma from the catalog's vectors; needs no model."""
        self.catalog.check_writable()
        if self._follower:
            self._follower.rebuild()

    def apply_external_edits(self) -> None:
        """Finish interrupted operations, then apply edits that were made to the files outside the program."""
        self.catalog.check_writable()
        with self.catalog.lock:
            self._journal.finish_all()
            taxonomy_file.finish(self.catalog, self.layout, self._disk)
            self._found[:] = reconcile(self.catalog, self.layout)

    def finish_erasing(self) -> str:
        """Leave nothing of what was deleted for good in any file; returns what is left, or ""."""
        self.catalog.check_writable()
        with self._erasing:
            return trash.finish_erasing(
                self.catalog, self.layout, self._disk, golden=self.golden, purge_chroma=self._purge_chroma
            )

    def _purge_chroma(self) -> None:
        if self._follower:
            self._follower.purge()

    def finish_without_missing_files(self) -> list[str]:
        """Finish operations that wait for deleted files; returns what was done, one sentence each."""
        self.catalog.check_writable()
        return self._journal.finish_without_lost()
