"""A meme library of three tiers: its coins, and the vectors of its five collections under a named model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.adopting import coins
from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.chroma.collections import COLLECTIONS
from store.chroma.contents import MARK, FoundCollection, read_contents
from store.chroma.foreign import ForeignChroma, opened_copy
from store.embedding import embedding_cache, open_embedder
from store.embedding.active_model import KeptVectors
from store.embedding.protocol import Embedder
from store.errors import BadSource, InvalidRecord, MemedexError, ModelUnavailable
from store.importing import folders, libraries
from store.importing.trees import DiskTree
from store.outcome import Refusal
from store.progress import Progress
from store.records import Facet, Record, checked_address

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

FAMILIES = ("openclip", "offline", "sentence-transformers", "litellm")
AGREES = 1e-3  # the largest difference of a number between a vector and the one that is computed again
_SAMPLE = 4  # of each collection
_BATCH = 500
_FACETS: Mapping[str, Facet] = {name: facet for facet, name in COLLECTIONS.items()}
TIERS = {"pending": "coins in review", "approved": "approved coins", "library": "coins of the library"}


@dataclass(frozen=True, slots=True)
class ForeignVectors:
    """One of the five collections, in a Chroma of another program."""

    folder: Path
    found: FoundCollection

    @property
    def facet(self) -> Facet:
        """The facet whose vectors these are."""
        return _FACETS[self.found.name]


def collections(rag_db: Path) -> list[ForeignVectors]:
    """The five collections, as far as they hold vectors; those of this very library are not among them."""
    is_own = (rag_db.parent / "catalog.sqlite3").is_file()
    return [
        ForeignVectors(folder, collection)
        for folder in libraries.chroma_folders(rag_db)
        for collection in read_contents(folder).collections
        if collection.name in _FACETS and collection.count and not (is_own and MARK in collection.metadata)
    ]


def waiting(library: "Reader") -> int:
    """How many vectors of another program lie in this library's own folder and were not adopted yet."""
    top = library.layout.memecoins
    adopted = (job for job in library.jobs.all() if job.kind == "adopt" and job.state == "done")
    if any(Path(job.options["path"]) in (top, *top.parents) for job in adopted):
        return 0
    return sum(one.found.count for one in collections(library.layout.chroma))


def check_name(model: str) -> None:
    """Raises BadSource unless this names a model of a known family."""
    if model.partition(":")[0] not in FAMILIES:
        raise BadSource(f"no model can be called {model!r}; a name begins with {', '.join(FAMILIES)}")


def adopt(
    library: "Library",
    top: Path,
    request: AdoptionRequest,
    report: AdoptionReport,
    origins: coins.Origins,
    progress: Progress,
) -> None:
    """Store what can be used of the vectors, then give every coin of the library vectors of one model."""
    found = collections(top / "rag_db")
    named = request.vectors or _model_said(found)
    if found and named:
        _VectorAdoption(library, named, report, origins).run(found, progress)
    elif found:
        count = sum(one.found.count for one in found)
        report.notes.append(
            f"{count:,} vectors stayed where they are, because their model is unknown; "
            "adopt again with --vectors MODEL to take them over."
        )
    if not progress.cancelled:
        _embed_rest(library, report, progress)


def _model_said(found: list[ForeignVectors]) -> str:
    """The model that all collections name in their metadata, as Memedex's own do; "" if they do not."""
    names = {str(one.found.metadata.get("model") or "") for one in found}
    return names.pop() if len(names) == 1 else ""


class _VectorAdoption:
    """One run over the vectors of one model."""

    def __init__(
        self, library: "Library", model: str, report: AdoptionReport, origins: coins.Origins
    ) -> None:
        check_name(model)
        self._library = library
        self._model = model
        self._report = report
        self._origins = origins
        self._records: dict[str, Record | None] = {}  # by id: the five collections have the same
        self._scaled = 0

    def run(self, found: list[ForeignVectors], progress: Progress) -> None:
        dimensions = {one.found.dimension for one in found}
        if len(dimensions) != 1:
            self._refuse("vectors", f"they have {len(dimensions)} lengths: {sorted(map(str, dimensions))}")
            return
        (length,) = dimensions
        embedder, is_here = _opened(self._model, int(length or 0))
        if embedder.dimensions != length:
            self._refuse(
                "vectors", f"they have {length} numbers, and {self._model} makes {embedder.dimensions}"
            )
            return
        progress.what, progress.total, progress.done = "vectors", sum(one.found.count for one in found), 0
        for folder in dict.fromkeys(one.folder for one in found):
            with opened_copy(folder) as chroma:
                mine = [one for one in found if one.folder == folder]
                if is_here and (fault := self._disagreement(chroma, mine, embedder)):
                    self._refuse(str(folder), fault)
                    return
                for one in mine:
                    self._take(chroma, one, embedder, progress)
                if chroma.fault:
                    self._refuse(str(folder), f"its vectors cannot be read: {chroma.fault}")
        if self._scaled:
            self._report.notes.append(
                f"{self._scaled:,} vectors were scaled to length 1, which changes no cosine."
            )
        if not progress.cancelled:
            self._choose(embedder, is_here)

    def _take(
        self, chroma: ForeignChroma, one: ForeignVectors, embedder: Embedder, progress: Progress
    ) -> None:
        batch: dict[str, bytes] = {}
        for entry in chroma.entries(one.found):
            if progress.cancelled:
                break
            progress.done += 1
            if entry.vector is None:
                continue
            row = self._unit(entry.vector)
            record = self._record(entry.id)
            if row is None:
                self._refuse(f"{one.found.name}/{entry.id}", "its vector is empty or holds no numbers")
            elif record is None:
                self._refuse(f"{one.found.name}/{entry.id}", "no coin with this id came in")
            elif source := self._source(record, one.facet, embedder):
                batch[source.key] = row.tobytes()
                self._report.reused += 1
                if len(batch) >= _BATCH:
                    self._store(batch)
                    batch = {}
            else:
                self._refuse(f"{one.found.name}/{entry.id}", "the coin has another text or picture by now")
        self._store(batch)

    def _store(self, batch: Mapping[str, bytes]) -> None:
        self._library.catalog.check_writable()
        with self._library.catalog.writing() as db:
            embedding_cache.store(db, self._model, batch)

    def _disagreement(self, chroma: ForeignChroma, found: list[ForeignVectors], embedder: Embedder) -> str:
        """Why these cannot be vectors of this model; "" if a sample of each collection agrees."""
        for one in found:
            checked = 0
            for entry in chroma.entries(one.found):
                record, row = self._record(entry.id), None
                if entry.vector is not None:
                    row = self._unit(entry.vector)
                source = self._source(record, one.facet, embedder) if record else None
                if row is None or source is None:
                    continue
                made = embedding_cache.embed([source], embedder)[source.key]
                wrong = float(np.abs(np.frombuffer(made, "<f4") - row).max())
                if wrong > AGREES:
                    return (
                        f"they are not of {self._model}: {entry.id} in {one.found.name}, computed again, "
                        f"differs by {wrong:.3f} in a number, and {AGREES} is allowed"
                    )
                checked += 1
                if checked == _SAMPLE:
                    break
        return ""

    def _record(self, id: str) -> Record | None:
        if id not in self._records:
            try:
                self._records[id] = self._library.get(checked_address(id))
            except (InvalidRecord, LookupError):
                self._records[id] = None
        return self._records[id]

    def _source(
        self, record: Record, facet: Facet, embedder: Embedder
    ) -> embedding_cache.EmbeddingSource | None:
        if not self._origins.is_of(record, facet):
            return None
        return embedding_cache.sources(
            record.sidecar,
            picture=self._library.layout.image(record.tier, record.address),
            image_hash=record.image_hash,
            embedder=embedder,
        ).get(facet)

    def _unit(self, vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
        length = float(np.linalg.norm(vector.astype(np.float64)))
        if not np.isfinite(length) or length < 1e-6:
            return None
        if abs(length - 1) < 1e-5:
            return np.ascontiguousarray(vector, np.float32)
        self._scaled += 1
        return np.ascontiguousarray(vector / length, np.float32)

    def _choose(self, embedder: Embedder, is_here: bool) -> None:
        """Make the model the library's if every coin of it has its picture's vector by now."""
        without = _without_picture_vector(self._library, embedder)
        if without:
            self._report.notes.append(
                f"The vectors of {self._model} are kept alongside those of {self._library.model}: "
                f"{without:,} coins of the library have none of it. `model {self._model}` switches."
            )
        elif isinstance(embedder, KeptVectors):
            self._library.use_kept_vectors(embedder)
            self._report.notes.append(embedder.status.removeprefix("unavailable: "))
        elif is_here and self._library.model != self._model:
            self._library.embed_all(embedder, progress=Progress())
            self._report.notes.append(f"The library's model is {self._model} now; `model NAME` changes it.")

    def _refuse(self, item: str, reason: str) -> None:
        self._report.refused.append(Refusal(item, reason))


def _opened(model: str, length: int) -> tuple[Embedder, bool]:
    """The model, and whether it is on this machine; else a substitute with its stored vectors."""
    try:
        embedder = open_embedder(model)
        embedder.warm()
    except ModelUnavailable:
        return KeptVectors(model, length), False
    return embedder, True


def _without_picture_vector(library: "Library", embedder: Embedder) -> int:
    key = embedding_cache.picture_keys(embedder)
    with library.catalog.reading() as db:
        rows = db.execute("SELECT image_hash FROM records WHERE tier = 'library'").fetchall()
        find = "SELECT 1 FROM vectors WHERE key = ?"
        return sum(db.execute(find, [key(row["image_hash"])]).fetchone() is None for row in rows)


def _embed_rest(library: "Library", report: AdoptionReport, progress: Progress) -> None:
    """Embed what has no vector of the library's model; without the model they wait."""
    progress.what = "embedding"
    before = _vectors(library)
    try:
        if not isinstance(library.embedder, KeptVectors):
            library.embed_all(library.embedder, progress=progress)
    except MemedexError as error:
        report.notes.append(f"Some coins wait for their vectors: {error}")
    report.embedded += _vectors(library) - before


def _vectors(library: "Library") -> int:
    return int(library.catalog.row("SELECT count(*) FROM vectors")[0])


class ThreeTierLibrary:
    """`pending`, `approved` and `rag_db`, as its own program or an export leaves them."""

    name = "reference-1"
    title = "Meme library of three tiers"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The folder that holds `rag_db`, or one above it; its `catalog.sqlite3` is Memedex's own."""
        top = _top(path)
        if top is None:
            return None
        own = (top / "catalog.sqlite3").is_file()
        found = coins.counted(_candidates(top))
        note = "in this library already; they get only what they lack" if own else ""
        kinds = [
            FoundKind(TIERS[tier], count, _place(top, tier), note)
            for tier, count in found.tiers.items()
            if count
        ]
        notes = list(found.notes)
        vectors = collections(top / "rag_db")
        for collection in vectors:
            kinds.append(
                FoundKind(
                    f"vectors of {collection.found.dimension or 0:,} numbers",
                    collection.found.count,
                    f"{collection.folder.relative_to(top).as_posix()}/{collection.found.name}",
                )
            )
        for folder in libraries.chroma_folders(top / "rag_db"):
            if fault := read_contents(folder).fault:
                notes.append(
                    f"Chroma in {folder} cannot be read ({fault}): no tags and no vectors from there."
                )
        if vectors:
            notes.append(
                "Chroma does not say which model its vectors are of: name it (--vectors MODEL), or the coins "
                "are embedded again."
            )
        if not kinds or (own and not vectors):
            return None  # nothing of another program's
        return DataSurvey(
            self.name, self.title, top, tuple(kinds), tuple(found.refused), tuple(notes), bool(vectors)
        )

    def adopt(
        self, library: "Library", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Coins in their tiers, tags where there are none, then vectors."""
        progress.total = sum(one.count for one in survey.found if one.what in TIERS.values())
        is_own = survey.path.resolve() == library.layout.memecoins.resolve()
        report, there = coins.add(library, lambda: _candidates(survey.path), survey, request, progress)
        if progress.cancelled:
            return report
        origins = coins.Origins(library, {} if is_own else there, is_own=is_own)
        adopt(library, survey.path, request, report, origins, progress)
        return report


def _candidates(top: Path) -> Iterator[folders.Found]:
    return folders.coins(DiskTree(top, title=top.name))


def _place(top: Path, tier: str) -> str:
    return f"{top.name}/{'rag_db/metadata' if tier == 'library' else tier}"


def _top(path: Path) -> Path | None:
    """The folder with the three tiers: this one, `memecoins` in it, or the one around `rag_db`."""
    if not path.is_dir():
        return None
    around = [path, path / "memecoins", path / "res" / "memecoins"]
    if path.name in ("rag_db", "pending", "approved"):
        around.append(path.parent)
    return next((folder for folder in around if _is_library(folder)), None)


def _is_library(folder: Path) -> bool:
    store = folder / "rag_db"
    return bool((store / "metadata").exists() or libraries.chroma_folders(store)) or all(
        (folder / name).is_dir() for name in ("pending", "approved")
    )
