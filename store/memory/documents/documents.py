"""Protocol papers, in passages that can be cited by page."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal
from uuid import UUID, uuid4, uuid5

from store.catalog.words import content_words, words_in
from store.disk.files import Disk, content_hash
from store.errors import BadSource
from store.memory.documents import parser, pdf, readings
from store.memory.documents.chunking import DocumentChunk, cut, halves, joined, parts, sections
from store.memory.documents.headings import sections_named
from store.memory.documents.parser import DocumentText, marks, recognised
from store.memory.documents.readings import Rectangle, is_compared
from store.memory.documents.recognition import ALPHABETS
from store.memory.documents.schema import NO_PAGE, SECTIONS, DocumentSource
from store.memory.engine import fusion
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import keep_fields, kept_fields
from store.memory.engine.inputs import (
    LONGEST,
    LONGEST_QUESTION,
    InvalidInput,
    changed_meanwhile,
    check_known,
    checked_count,
    checked_text,
)
from store.memory.engine.kind import Row
from store.pictures.picture_texts import INSTALL_READER, can_read
from store.progress import Progress

RESULTS = 5
_LOOKED_AT = 20  # passages that tell a document's language
_PATH = "path"  # among a document's metadata: the file that it was imported from; "" for an upload
_WATCHED = "watched_files"  # in `meta`
_BEGUN = "originals_begun"  # in `meta`: files written for imports, of which not every one came to an end


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a passage is: the original file, each page from 1 with rectangles as fractions of it."""

    path: Path
    pages: list[tuple[int, list[Rectangle]]]


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """What an import came to: the document as it is stored, and a sentence if a person should know more."""

    source: DocumentSource
    state: Literal["new", "changed", "present"]
    note: str = ""


class Documents:
    """Import, search, compare and cite documents."""

    def __init__(self, entries: Entries, *, originals: Path) -> None:
        self.entries = entries
        self._originals = originals

    @staticmethod
    def files_at(path: Path) -> list[Path]:
        """The files in this folder, at any depth, that may be papers and are not hidden; a file itself."""
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        return [
            file
            for file in inside
            if file.suffix.lower() in parser.KINDS
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
            and file.is_file()
        ] or [path]

    def import_document(
        self,
        path: Path,
        *,
        protocol: str,
        content: bytes | None = None,
        replaces: bool = False,
        progress: Progress | None = None,
        actor: str = "",
        decision: str | None = None,
    ) -> ImportedDocument:
        """Import a file as a document of this protocol. Raises BadSource or InvalidInput.

        A document is its content: what is there already stays as it is. Other content from the same path is
        its new version. Other content under a name that is taken is stored under a longer one, unless it
        `replaces` the document of that name. What an earlier version imported gets the sections that this
        one finds. `content` is given for an upload; its `path` is only a name. Several imports with the id of
        one `decision` are undone together. Reading ends with BadSource once `progress` is cancelled.
        """
        self.entries.database.check_writable()
        protocol = checked_protocol(protocol)
        if content is None and path.is_dir():
            raise BadSource(f"no paper is in {path.name} ({', '.join(parser.KINDS)})")
        origin = "" if content is not None else str(path.resolve())
        if content is None:
            content = parser.read(path)
        name = checked_text(path.name, what="the file's name")
        original = f"{content_hash(content)}{Path(name).suffix.lower()}"
        there = None if replaces else self._there(content, protocol, name)
        names = _names(Path(origin) if origin else path, content)
        if there and there.source.bare_pages and can_read() and self._unread(content, name, original):
            names, replaces = iter([there.source.source]), True  # RapidOCR was installed since
        elif there:
            if not there.source.knows_sections:
                self.find_sections(there.source, actor=actor)
                said = f"{there.source.id}: the sections of its passages were found again"
                return replace(there, note="; ".join(filter(None, [there.note, said])))
            return there
        text, read = self._read_whole(content, name, original, progress or Progress())
        pages, chunks = text.pages, cut(text.pages, typeset=text.headings)
        new = self.entries.embed([chunk.text for chunk in chunks])
        self._note_begun(original)
        with self.entries.database.writing():  # no other process may tidy up meanwhile
            there = self._there(content, protocol, name)  # imported by another process in the meantime
            if there and not replaces:
                return there
            imported = self._placed(
                protocol, names, origin=origin, digest=content_hash(content), replaces=replaces
            )
            source = replace(
                imported.source,
                original=original,
                pages=len(pages),
                bare_pages=", ".join(str(n) for n, text in enumerate(pages, start=1) if not text.strip()),
                imported_at=self.entries.clock(),
                has_sections=SECTIONS,
            )
            self._keep(content, original)
            with self.entries.change("import document", actor=actor, decision=decision) as change:
                self._remove(change, source)
                change.store(new)
                for index, chunk in enumerate(chunks):
                    change.upsert({**_row(source, chunk, index), "id": str(uuid4())})
                change.upsert(asdict(source), table="sources")
                keep_fields(change, source.id, {_PATH: origin})
        where = {"protocol": source.protocol, "source": source.source}
        fusion.add_token_states(
            self.entries, [row["id"] for row in self.entries.find(where=where, limit=None)]
        )
        return replace(imported, source=source, note="; ".join(filter(None, [imported.note, read])))

    def _read_whole(
        self, content: bytes, name: str, original: str, progress: Progress
    ) -> tuple[DocumentText, str]:
        """A document's text with that of its scanned pages, and a sentence about these. Raises BadSource."""
        text = parser.document_text(content, name=name, with_tables=True, progress=progress)
        known = readings.load(place := self._readings(original)) | text.tables
        left, said = [page for page in text.scanned if page not in known], ""
        if known or left:
            self._note_begun(place.name)
            readings.store(place, known)
        if left and not can_read():
            said = (
                f"the text of {_pages(left)} is only in pictures, and RapidOCR is not installed. "
                f"{INSTALL_READER}; then import it again"
            )
        elif text.scanned:
            for some in recognised(content, name=name, pages=left, progress=progress):
                known |= some
                readings.store(place, known)
            if found := [page for page in text.scanned if known[page].text]:
                said = (
                    f"the text of {_pages(found)} was recognised by RapidOCR, which knows {ALPHABETS}; "
                    "look at the page before you rely on it"
                )
        text = text.with_readings(known)
        if not any(page.strip() for page in text.pages):
            count = "1 page" if len(text.pages) == 1 else f"{len(text.pages):,} pages"
            why = (
                said or f"{'nothing was recognised' if text.scanned else 'there is nothing'} in its pictures"
            )
            raise BadSource(f"{name} has {count} and no text on any of them: {why}")
        return text, f"{name}: {said}" if said else ""

    def _unread(self, content: bytes, name: str, original: str) -> bool:
        """Whether a document has scanned pages that were not recognised yet."""
        scanned = parser.document_text(content, name=name).scanned
        return not {*scanned} <= readings.load(self._readings(original)).keys()

    def _there(self, content: bytes, protocol: str, name: str) -> ImportedDocument | None:
        """The document of this protocol with this content."""
        digest = content_hash(content)
        same = [one for one in self.sources() if one.protocol == protocol]
        same = [one for one in same if Path(one.original).stem == digest]
        found = next((one for one in same if one.source == name), same[0] if same else None)
        if found is None:
            return None
        note = "" if found.source == name else f"{name}: this paper is there already, as {found.id}"
        return ImportedDocument(found, "present", note)

    def _placed(
        self, protocol: str, names: Iterable[str], *, origin: str, digest: str, replaces: bool
    ) -> ImportedDocument:
        """Where a file with new content belongs: in the place of its last version, or under a free name."""
        known = {one.id: one for one in self.sources()}
        with self.entries.database.reading() as db:
            paths = {
                id: found.get(_PATH) for id, found in kept_fields(db, self.entries.kind, [*known]).items()
            }
        own = next((id for id, path in paths.items() if origin and path == origin), "")
        name, *longer = names
        taken = known.get(f"{protocol}/{name}")
        if own and known[own].protocol == protocol:
            said = f"{own}: a new version; undo brings back the one before"
            return ImportedDocument(known[own], "changed", said)
        if taken and (replaces or Path(taken.original).stem in ("", digest)):
            said = f"{taken.id}: it replaces what was stored under this name; undo brings that back"
            return ImportedDocument(taken, "changed", said)
        free = next(one for one in (name, *longer) if f"{protocol}/{one}" not in known)
        id = f"{protocol}/{free}"
        said = f"another paper is stored as {protocol}/{name}; this one is kept as {id}" if taken else ""
        return ImportedDocument(DocumentSource(id, protocol, free, "", 0, "", 0), "new", said)

    def not_read(self, source: DocumentSource) -> str:
        """The sentence that says that the model does not read this document's language, or ""."""
        where = {"protocol": source.protocol, "source": source.source}
        rows = self.entries.find(where=where, limit=_LOOKED_AT)
        return self.entries.not_read("\n".join(row["content"] for row in rows))

    def rechunk(self, source: DocumentSource, *, longest: int, overlap: int) -> list[Row]:
        """The passages that this document would have with other chunks; nothing is stored.

        `longest` and `overlap` are in characters. Raises InvalidInput unless the overlap is shorter, and
        BadSource if the file is no longer there.
        """
        self.entries.actor.check_login()
        checked_count(longest, what="the chunk size", most=LONGEST_QUESTION)
        if not 0 <= overlap < longest:
            raise InvalidInput(f"the overlap has to be from 0 to {longest - 1:,}, not {overlap:,}")
        text = self._text(source)
        chunks = cut(text.pages, typeset=text.headings, longest=longest, overlap=overlap)
        return [_row(source, chunk, index) for index, chunk in enumerate(chunks)]

    def find_sections(self, source: DocumentSource, *, actor: str = "") -> int:
        """Find the sections of passages of an earlier version; how many have one. Raises BadSource."""
        self.entries.database.check_writable()
        text = self._text(source)
        with self.entries.change("find sections", actor=actor) as change:
            found = change.db.execute(
                "SELECT * FROM documents WHERE protocol = ? AND source = ?", [source.protocol, source.source]
            ).fetchall()
            names = sections(text.pages, found, typeset=text.headings)
            for row, name in zip(found, names, strict=True):
                if name != row["section"]:
                    known = {key: row[key] for key in row.keys() if key != "number"}  # noqa: SIM118
                    change.upsert({**known, "section": name})
            change.upsert({**asdict(source), "has_sections": SECTIONS}, table="sources")
        return sum(name != "" for name in names)

    def merge_with_next(self, id: str, *, actor: str = "", decision: str | None = None) -> Row:
        """Make a passage and the one after it one. Raises InvalidInput if it is its paper's last."""
        self.entries.database.check_writable()
        if self.entries.decided(decision) is not None:
            return self.entries.get(id)
        row = self.entries.get(id)
        of_paper = {name: row[name] for name in ("protocol", "source")}
        rows = self.entries.find(where=of_paper, limit=None)
        number = [one["id"] for one in rows].index(id)
        if number + 1 == len(rows):
            raise InvalidInput("it is the last passage of its paper")
        following = rows[number + 1]
        changed = joined(row, following, self._texts(row))
        checked_text(changed["content"], what="the passage", most=LONGEST)
        self._recut("merge", {id: changed}, [row, following], removed=[following["id"]], actor=actor,
                    decision=decision)  # fmt: skip
        return self.entries.get(id)

    def split(
        self, id: str, beginning: str, *, actor: str = "", decision: str | None = None
    ) -> tuple[Row, Row]:
        """Make a passage two, the second beginning with these words; InvalidInput unless they are inside."""
        self.entries.database.check_writable()
        row = self.entries.get(id)
        second = str(uuid5(UUID(int=0), f"{id} {decision or uuid4()}"))
        if self.entries.decided(decision) is None:
            at = row["content"].find(beginning.strip())
            if not beginning.strip() or not any(map(is_compared, row["content"][: max(at, 0)])):
                raise InvalidInput("the second part has to begin with words from within the passage")
            before, after = halves(row, at, self._texts(row))
            self._recut("split", {id: before, second: after}, [row], actor=actor, decision=decision)
        return self.entries.get(id), self.entries.get(second)

    def _recut(
        self,
        verb: str,
        changed: Mapping[str, Mapping[str, Any]],
        known: Sequence[Row],
        *,
        removed: Sequence[str] = (),
        actor: str,
        decision: str | None,
    ) -> None:
        """Write passages that are cut otherwise, the first known one being what new ones are made from."""
        new = self.entries.embed([one["content"] for one in changed.values()])
        with self.entries.change(verb, actor=actor, decision=decision) as change:
            rows = [change.row("documents", one["id"]) for one in known]
            for row, before in zip(rows, known, strict=True):
                if row is None or row["content"] != before["content"]:
                    raise changed_meanwhile(before["id"])
            change.store(new)
            for id, columns in changed.items():
                change.upsert({**(rows[0] or {}), **columns, "id": id})
            for id in removed:
                change.remove(id)
        fusion.add_token_states(self.entries, [*changed])

    def _texts(self, row: Row) -> list[str]:
        """The text of each page of a passage's paper; none if its file is not there."""
        found = self.entries.database.row(
            "SELECT * FROM sources WHERE protocol = ? AND source = ?", [row["protocol"], row["source"]]
        )
        try:
            return self._text(DocumentSource(**found)).pages if found else []
        except BadSource:
            return []

    def remove_document(
        self, protocol: str, source: str, *, actor: str = "", decision: str | None = None
    ) -> int:
        """Remove a document with its passages; undo restores it. Returns how many passages it had."""
        gone = DocumentSource(
            f"{checked_protocol(protocol)}/{source}", protocol.strip().lower(), source, "", 0, "", 0
        )
        if (removed := self.entries.decided(decision)) is not None:
            return sum(id != gone.id for id in removed)
        with self.entries.change("remove document", actor=actor, decision=decision) as change:
            self._remove(change, gone)
            change.remove(gone.id, table="sources")
            return change.count

    def search(
        self,
        question: str,
        n: int = RESULTS,
        *,
        protocol: str | Collection[str] | None = None,
        section: str | None = None,
    ) -> list[dict[str, Any]]:
        """The passages that fit the question best: of one protocol, of several, or of all; of one section.

        `score` is words and meaning together; `meaning` (the cosine, None while the model is away) and
        `words` are its parts. One that fits too little to answer the question has `near_miss`.
        """
        question = checked_text(question, what="the question", most=LONGEST_QUESTION)
        where: dict[str, Any] = {} if protocol is None else {"protocol": _protocols(protocol)}
        where |= {"section": sections_named(section, self.entries.counts("section"))} if section else {}
        found = fusion.best(self.entries, question, n=checked_count(n, what="n"), where=where)
        for name in sorted({str(hit.row["protocol"]) for hit in found}):
            self.entries.count_question(name)
        fusion.log_retrieval(self.entries, question, found, scope="", n=n, where=where)
        return [
            {**passage(hit.row), "score": hit.score, **hit.parts()}
            | ({} if hit.answers else {"near_miss": True})
            for hit in found
        ]

    def compare(
        self, question: str, protocols: Sequence[str], n: int = RESULTS, *, section: str | None = None
    ) -> dict[str, list[dict[str, Any]]]:
        """Ask each protocol separately, n passages for each."""
        return {
            name: self.search(question, n, protocol=name, section=section) for name in _protocols(protocols)
        }

    def search_named(
        self,
        question: str,
        n: int = RESULTS,
        *,
        protocols: Collection[str] | None = None,
        section: str | None = None,
    ) -> list[dict[str, Any]]:
        """`search`; if the question names several protocols, each is asked and gives its best in turn."""
        question = checked_text(question, what="the question", most=LONGEST_QUESTION)
        among = [*self.protocols()] if not protocols else _protocols(protocols)
        named = [name for name in among if words_in(question, content_words(name)[:1])]
        if len(named) < 2:
            return self.search(question, n, protocol=protocols or None, section=section)
        found = self.compare(question, named, n, section=section).values()
        merged = [hit for hits in zip_longest(*found) for hit in hits if hit is not None]
        return sorted(merged[:n], key=lambda hit: "near_miss" in hit)

    def check_known(self, protocols: Iterable[str], section: str | None = None) -> None:
        """Raises UnknownEntry, with the nearest names, if there is no such protocol or section."""
        known = self.protocols()
        for name in _protocols(protocols):
            check_known(name, known, what="protocol")
        if section:
            sections_named(section, self.entries.counts("section"))

    def protocols(self) -> dict[str, int]:
        """Every protocol with its number of passages."""
        return self.entries.counts()

    def sources(self) -> list[DocumentSource]:
        """Every document, by protocol and name."""
        return [
            DocumentSource(**row)
            for row in self.entries.database.rows("SELECT * FROM sources ORDER BY protocol, source")
        ]

    def cite(self, id: str) -> Citation:
        """The place of this passage; without pages, or if edited, it has no rectangles. Raises BadSource."""
        row = self.entries.get(id)
        found = self.entries.database.row(
            "SELECT original FROM sources WHERE protocol = ? AND source = ?",
            [row["protocol"], row["source"]],
        )
        if found and not found[0]:
            raise BadSource(f"{row['source']} came as passages, without its file; import the file to see it")
        path = self._path(found[0] if found else "", row["source"])
        known = readings.load(self._readings(path.name))
        texts = [(row["page"], row["content"])]
        if row["last_page"]:
            text = parser.document_text(parser.read(path), name=row["source"])
            texts = parts(text.with_readings(known).pages, row)
            if not any(content for _, content in texts):  # it was imported before anything else was read
                texts, known = parts(text.pages, row), {}
        name, is_pdf = row["source"], path.suffix == pdf.SUFFIX

        def marked(page: int, text: str) -> list[Rectangle]:
            found, left = known[page].marks(text) if page in known else ([], [text])
            for part in left if is_pdf and text else ():
                found += marks(parser.read(path), name=name, page=page, passage=part)
            return found

        return Citation(path, [(page, marked(page, text)) for page, text in texts])

    def watched_files(self) -> dict[str, tuple[str, str]]:
        """The files of the watched folder that were looked at: size and time, and why one was refused."""
        known = json.loads(self.entries.database.meta(_WATCHED) or "{}")
        return {path: (stat, reason) for path, (stat, reason) in known.items()}

    def note_watched_file(self, path: str, stat: str, reason: str) -> None:
        """Note that a file of the watched folder was imported, or refused for this reason."""
        with self.entries.database.writing():
            known = self.watched_files() | {path: (stat, reason)}
            self.entries.database.set_meta(_WATCHED, json.dumps(known))

    def tidy(self) -> None:
        """Delete the originals of unfinished imports that neither a document nor the history refers to."""
        database = self.entries.database
        database.check_writable()
        with database.writing() as db:  # not while an import is between file and commit
            if not (begun := database.meta(_BEGUN)):
                return
            known = {row[0] for row in db.execute("SELECT original FROM sources")}
            past = db.execute("SELECT json_extract(before, '$.original') FROM history WHERE tbl = 'sources'")
            known |= {row[0] for row in past}
            known |= {self._readings(name).name for name in known if name}
            for name in json.loads(begun):
                if name not in known:
                    (self._originals / name).unlink(missing_ok=True)
            database.set_meta(_BEGUN, "")

    def _path(self, original: str, name: str) -> Path:
        path = self._originals / original
        if not original or not path.is_file():
            raise BadSource(f"the file {name} is no longer there; import it again")
        return path

    def _text(self, source: DocumentSource) -> DocumentText:
        path = self._path(source.original, source.source)
        text = parser.document_text(parser.read(path), name=source.source)
        return text.with_readings(readings.load(self._readings(path.name)))

    def _readings(self, original: str) -> Path:
        """The file with what was read on the pages of an original beyond its text."""
        return self._originals / f"{Path(original).stem}{readings.SUFFIX}"

    def _note_begun(self, original: str) -> None:
        """Note an original that an import is about to store, so that `tidy` finds it after a crash."""
        database = self.entries.database
        with database.writing():
            if not (self._originals / original).exists():
                begun = json.loads(database.meta(_BEGUN) or "[]")
                database.set_meta(_BEGUN, json.dumps([*begun, original]))

    def _keep(self, content: bytes, original: str) -> None:
        """Store the original file, before the commit that refers to it."""
        disk = Disk()
        if not (self._originals / original).exists():
            disk.make_folder(self._originals)
            disk.replace(self._originals / original, content)

    @staticmethod
    def _remove(change: Any, source: DocumentSource) -> None:
        rows = change.db.execute(
            "SELECT id FROM documents WHERE protocol = ? AND source = ?", [source.protocol, source.source]
        ).fetchall()
        for row in rows:
            change.remove(row["id"])


def _pages(numbers: Sequence[int]) -> str:
    """ "page 3", or "pages 1–4, 7" """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    named = ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in runs)
    return f"page {named}" if len(numbers) == 1 else f"pages {named}"


def _names(path: Path, content: bytes) -> Iterator[str]:
    """Names for a file, shortest first: its own, with the folders that it is in, and with its hash."""
    parts = [part for part in path.parts if part != path.anchor]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[-count:]).encode(errors="replace").decode()
    yield f"{path.stem}-{content_hash(content)[:16]}{path.suffix}"


def passage(row: Row) -> dict[str, Any]:
    """A passage as a pgvector table has it."""
    return {"id": row["id"], "content": row["content"], "metadata": metadata(row)}


def metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a passage; with its section, and its last page if it runs over, if known."""
    more = {name: row[name] for name in ("section", "last_page") if row[name]}
    return {"source": row["source"], "page": row["page"], "protocol": row["protocol"], **more}


def pages_of(place: Mapping[str, Any]) -> str:
    """ "page 3", or "pages 3–4", of a passage's row or metadata; "no page" if none is known."""
    last = place.get("last_page")
    if place["page"] == NO_PAGE:
        return "no page"
    return f"pages {place['page']}–{last}" if last else f"page {place['page']}"


def checked_protocol(protocol: object) -> str:
    """A protocol's name in lower case. Raises InvalidInput for an empty one."""
    return checked_text(protocol, what="the protocol").strip().lower()


def _row(source: DocumentSource, chunk: DocumentChunk, index: int) -> Row:
    return {
        "id": f"{source.id} #{index + 1}", "content": chunk.text, "source": source.source,
        "page": chunk.page, "protocol": source.protocol, "chunk_index": index, "span_start": chunk.start,
        "span_end": chunk.end, "section": chunk.section,
        "last_page": chunk.last_page if chunk.last_page > chunk.page else None,
    }  # fmt: skip


def _protocols(given: str | Iterable[str]) -> list[str]:
    names = [given] if isinstance(given, str) else given
    return list(dict.fromkeys(checked_protocol(name) for name in names))
