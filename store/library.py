"""The library: the verbs that change it, and nothing else."""

import atexit
import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import uuid4

from store import (
    calibration,
    drafts,
    golden,
    history,
    moving,
    samples,
    saved_searches,
    suggestions,
    switching,
    taxonomy_edits,
    troubles,
)
from store.background import Background
from store.calibration import Calibration
from store.catalog import Catalog, damaged, is_made
from store.duplicates import judging
from store.duplicates.examining import Examiner
from store.duplicates.verdicts import Verdict
from store.embedding import Embedder, resolve
from store.errors import (
    InvalidRecord,
    LibraryInUse,
    MemedexError,
    NothingToUndo,
    NotWritten,
    ReadOnly,
    TakenBack,
)
from store.files import Disk, content_hash
from store.follower import Follower
from store.golden import Golden
from store.importing.candidate import Candidate, Refusal, shown
from store.inbox import Inbox, Watcher
from store.jobs import Jobs
from store.journal import REFUSALS, Journal, Payload
from store.kinds import KINDS
from store.layout import Layout
from store.lock import WriterLock
from store.looking import Onlooker
from store.matrix_files import MatrixSaver
from store.opening import Fault, is_stale, settle
from store.operations import Change, Source, State
from store.outcome import ImportReport, Outcome
from store.people import myself
from store.progress import Progress
from store.query import checked_weights
from store.reading import SAVED_FILTERS, Reader
from store.records import Facet, Record, Tier, sidecar_bytes, validate
from store.replacing import Replacement
from store.saved_searches import SavedSearch
from store.search import Search
from store.settings import settings
from store.suggestions import SuggestedFacet, SuggestionState
from store.write_path import Decision, WritePath

_OPERATION = 256  # records of one operation (design section 4)
_NAME = 60  # characters of a saved filter's name
_EMBEDDED = 64  # … of one that needs the model: what a cancelled promotion may still have to wait for

# Design section 2: where each verb takes a record from, and where to.
Move = Literal["approve", "return", "reject", "promote", "degrade", "delete", "restore"]
_MOVES: dict[Move, tuple[tuple[Tier, ...], Tier | None]] = {
    "approve": (("pending",), "approved"),
    "return": (("approved",), "pending"),
    "reject": (("pending", "approved"), "trash"),
    "promote": (("approved",), "library"),
    "degrade": (("library",), "approved"),
    "delete": (("pending", "approved", "library"), "trash"),
    "restore": (("trash",), None),
}

_open: dict[Path, "Library"] = {}  # one for each folder in this process, whoever asks
_opening = threading.Lock()
_T = TypeVar("_T")


class Library(Reader):
    """The one writer of a library's folder."""

    can_write = True

    @classmethod
    def open(cls, root: Path, *, embedder: Embedder | None = None, disk: Disk | None = None) -> "Library":
        """The library in this folder, made if there is none; LibraryInUse while another process writes.

        ReadOnly where the settings say that nobody changes anything.
        """
        if settings().read_only:
            raise ReadOnly("nothing can be changed here while MEMEDEX_READ_ONLY is set")
        root = Path(root).resolve()
        with _opening:
            if root not in _open:
                lock = WriterLock(Layout(root).lock)
                lock.acquire()
                try:
                    _open[root] = cls(root, embedder=embedder, disk=disk, lock=lock)
                except BaseException as error:
                    lock.release()
                    if type(error) is sqlite3.DatabaseError:
                        raise damaged(Layout(root).catalog, error) from error
                    raise
            return _open[root]

    @staticmethod
    def open_for_reading(root: Path, *, embedder: Embedder | None = None) -> Reader:
        """The library as its catalog knows it; brought up to date first when nobody else is writing."""
        layout = Layout(Path(root).resolve())
        if not is_made(layout.catalog):
            _bring_up_to_date(layout, embedder)
        reader = Reader(layout.root, embedder=embedder)
        if WriterLock(layout.lock).is_free() and is_stale(reader.catalog, layout):
            with contextlib.suppress(LibraryInUse):  # somebody was quicker, and does it
                _bring_up_to_date(layout, embedder)
        return reader

    def __init__(self, root: Path, *, embedder: Embedder | None, disk: Disk | None, lock: WriterLock) -> None:
        self._lock = lock
        super().__init__(root, embedder=embedder, disk=disk)
        try:
            self._begin(embedder)
        except BaseException:
            self.catalog.close()
            raise

    def _begin(self, embedder: Embedder | None) -> None:
        self._journal, self._found = _settled(self.catalog, self.layout, self._disk, embedder)
        taxonomy_edits.finish(self.catalog, self.layout, self._disk)
        _ = self.taxonomy  # a broken one is said at once
        self._path = WritePath(self.catalog, self.layout, self._journal, embedder=lambda: self.embedder)
        self._follower = Follower(self.catalog, self.layout, model=lambda: self.model)
        self._saver = MatrixSaver(self.catalog, self.layout, saved=self._map_matrices)
        self._examiner = Examiner(self.catalog, self._neighbours, picture=self.picture)
        self._onlooker = Onlooker(self.catalog, embedder=lambda: self.embedder, picture=self.picture)
        self._watchers = (
            Background("duplicates", lambda progress: self._examiner.examine(progress=progress)),
            Background("looks", self._onlooker.look),
        )
        self._inbox: Watcher | None = None
        self._reversing = threading.Lock()  # two undos at one time must not both choose the same decision
        self._jobs = Jobs.to_do(self.catalog, KINDS, self)
        self._embed_taken_in()
        self._follower.wake_if_needed()
        self.golden_faults = golden.take_in(self.catalog, self.layout)

    # -- verbs that move records ---------------------------------------------------------------------------

    def approve(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Pending to approved."""
        return self._move("approve", addresses, who=who)

    def give_back(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Approved to pending; the verb `return`."""
        return self._move("return", addresses, who=who)

    def reject(self, addresses: Iterable[str], *, reason: str = "", who: str = "") -> Outcome:
        """Pending or approved to the trash."""
        return self._move("reject", addresses, who=who, reason=reason)

    def promote(
        self, addresses: Iterable[str], *, progress: Progress | None = None, who: str = ""
    ) -> Outcome:
        """Approved to the library, every facet embedded; what lacks a caption is refused."""
        return self._move("promote", addresses, who=who, progress=progress)

    def degrade(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Library to approved; caption, tags and vectors stay."""
        return self._move("degrade", addresses, who=who)

    def delete(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Any tier to the trash."""
        return self._move("delete", addresses, who=who)

    def restore(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Trash to where it was."""
        return self._move("restore", addresses, who=who)

    def move(
        self, verb: Move, addresses: Iterable[str], *, decision: str, reason: str = "", who: str = ""
    ) -> Outcome:
        """A part of a decision too large for one call; what an earlier part of it did is not done again.

        TakenBack once the decision was undone: what is left of it must not follow.
        """
        done, left = self._parts(verb, addresses, decision)
        outcome = self._move(verb, left, who=who, reason=reason, decision=decision)
        outcome.done += done
        return outcome

    # -- verbs that change what a record says --------------------------------------------------------------

    def add(
        self,
        candidates: Iterable[Candidate | Refusal],
        *,
        source: str = "",
        decision: str | None = None,
        progress: Progress | None = None,
        who: str = "",
    ) -> ImportReport:
        """Take candidates into pending; what is already there, in any tier, is left as it is.

        `source` is what people call the place they come from: the history tells it, filters ask for it.
        With `decision` it is a part of that one.
        """
        from store.intake import take_in  # brings Pillow along

        if decision:
            self._parts("import", (), decision)
        report = ImportReport()
        decided = Decision("import", who or myself(), reason=shown(source), id=decision or uuid4().hex)
        for batch in _batches(candidates, _EMBEDDED, progress):
            changes, payload = take_in(batch, report, reader=self, taxonomy=self.taxonomy)
            self._carry_out(decided, changes, payload, report)
            if progress:
                progress.done += len(batch)
        return report

    def caption(
        self,
        address: str,
        *,
        caption: Mapping[Facet, str | None],
        tags: Sequence[str] | None = None,
        revision: int | None = None,
        sources: Mapping[Facet, Source] | None = None,
        who: str = "",
    ) -> Outcome:
        """Write facets: a text, "" for nothing to say, None for not written yet; others stay as they are.

        In the library only what changed is embedded again. A record past `revision` is refused. `sources`
        names the model of each facet that one wrote; the person's own draft ends.
        """

        def written(record: Record) -> dict[str, Any]:
            if revision is not None and record.revision != revision:
                raise InvalidRecord("somebody else changed it in the meantime; look at both and save again")
            texts = {**(record.sidecar.get("caption") or {}), **caption}
            texts = {facet: text for facet, text in texts.items() if text is not None}
            return {**self._tagged(record, record.tags if tags is None else tags), "caption": texts}

        outcome = self._rewrite("caption", [address], written, who=who, sources=sources)
        if outcome.done and not outcome.decision:  # it said so already
            with contextlib.suppress(*REFUSALS):
                self.discard_draft(address, who=who)
        return outcome

    def replace(
        self, wanted: Iterable[Replacement], *, progress: Progress | None = None, who: str = ""
    ) -> Outcome:
        """Put the texts that were looked at in place of the old ones, as one decision, undone as one.

        A record changed since it was looked at is refused.
        """
        texts: dict[str, list[Replacement]] = {}
        for each in wanted:
            texts.setdefault(each.address, []).append(each)

        def written(record: Record) -> dict[str, Any]:
            caption = dict(record.sidecar.get("caption") or {})
            for each in texts[record.address]:
                if record.revision != each.revision or caption.get(each.facet) != each.before:
                    raise InvalidRecord("it was changed since you looked at it; look again")
                caption[each.facet] = each.after.strip()
            return {**record.sidecar, "caption": caption}

        return self._rewrite("replace", texts, written, who=who, progress=progress)

    def take_in_captions(
        self, wanted: Mapping[str, Mapping[str, Any]], *, decision: str, who: str = ""
    ) -> Outcome:
        """Write captions and tags that came from outside (store/takeovers.py), as a part of a decision.

        A record changed since it was looked at is refused; what an earlier part did is not done again.
        """

        def written(record: Record) -> dict[str, Any]:
            each = wanted[record.address]
            if record.revision != each["revision"]:
                raise InvalidRecord("it was changed since you looked at it; look again")
            tagged = self._tagged(record, record.tags if each["tags"] is None else each["tags"])
            return {**tagged, "caption": {**(record.sidecar.get("caption") or {}), **each["caption"]}}

        done, left = self._parts("import of captions", wanted, decision)
        outcome = self._rewrite("captions", left, written, who=who, decision=decision)
        outcome.done += done
        return outcome

    def edit_tags(
        self,
        addresses: Iterable[str],
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        decision: str | None = None,
        progress: Progress | None = None,
        who: str = "",
    ) -> Outcome:
        """Rename, add and remove tags; the categories follow from the taxonomy, with nothing to do as well.

        With `decision` it is a part of that one, as of `move`. What only follows reaches into the trash.
        """
        names = rename or {}

        def tagged(record: Record) -> dict[str, Any]:
            tags = [names.get(tag, tag) for tag in record.tags]
            return self._tagged(record, [tag for tag in [*tags, *add] if tag not in remove])

        done, left = self._parts("change", addresses, decision) if decision else ([], addresses)
        outcome = self._rewrite(
            "rename tag" if names else "tag", left, tagged, who=who, decision=decision, progress=progress,
            in_trash=not (add or remove),
        )  # fmt: skip
        outcome.done += done
        return outcome

    def edit_taxonomy(
        self, entries: Mapping[str, str], *, verb: str = "taxonomy", decision: str, who: str = ""
    ) -> None:
        """Make these the known tags with their categories; records follow by `edit_tags` (store/tagging.py).

        A part of the decision, done once; undo puts the file back as it was.
        """
        if not taxonomy_edits.is_made_by(self.catalog, decision):
            decided = Decision(verb, who or myself(), id=decision)
            taxonomy_edits.edit(self.catalog, self.layout, self._disk, entries, decision=decided)

    def judge(self, address: str, verdict: Verdict, others: Iterable[str], *, who: str = "") -> Outcome:
        """Say what a record is to others that look like it, so that nobody is asked again."""
        return judging.judge(
            self.catalog, address, verdict, others, decision=Decision("judge", who or myself())
        )

    def undo(self, n: int = 1, *, who: str = "") -> Outcome:
        """Take back one's own last n decisions; NothingToUndo when there is none.

        Long work that makes the last one is stopped first; stopped before it began, that is all there is.
        """
        with self.catalog.reading() as db:
            last = history.to_undo(db, who or myself())
        stopped = moving.stop_own(self, who=who or myself(), last=last)
        if stopped and not stopped.done and stopped.decision != last:
            return Outcome()
        return self._reverse(n, "undo", history.to_undo, who=who)

    def redo(self, n: int = 1, *, who: str = "") -> Outcome:
        """Do again what was undone last, unless something new was decided since."""
        return self._reverse(n, "redo", history.to_redo, who=who)

    def take_back(self, decisions: Iterable[str], *, who: str = "") -> Outcome:
        """Undo these decisions one by one, whoever made them; an undo among them is done again.

        What was changed since is refused, record by record. Give the newest first.
        """
        outcome = Outcome()
        for chosen in decisions:
            with self.catalog.reading() as db:
                row = db.execute("SELECT verb FROM decisions WHERE id = ?", [chosen]).fetchone()
            if row is None:
                outcome.refused.append(Refusal(chosen, "there is no such decision"))
                continue
            verb = "redo" if row["verb"] == "undo" else "undo"
            with self._reversing:
                if not self._reverse_one(chosen, Decision(verb, who or myself(), reverses=chosen), outcome):
                    break
        return outcome

    # -- drafts, model, end --------------------------------------------------------------------------------

    def save_draft(self, address: str, fields: Mapping[str, Any], *, who: str = "") -> None:
        """Keep text being typed, so that no reload loses it; NotWritten when the disk refuses."""
        try:
            with self.catalog.writing() as db:
                drafts.put(db, address, fields, who=who or myself())
        except REFUSALS as error:
            raise NotWritten(f"what was typed about {address} could not be kept: {error}") from error

    def discard_draft(self, address: str, *, who: str = "") -> None:
        """Forget what this person was typing; others' drafts stay."""
        with self.catalog.writing() as db:
            drafts.drop(db, address, who=who or myself())

    def save_suggestions(
        self,
        address: str,
        texts: Mapping[SuggestedFacet, str],
        *,
        model: str,
        prompt: str = "",
        who: str = "",
    ) -> None:
        """Propose these for a record, beside what it says; UnknownRecord where there is none."""
        self.get(address)
        origin = suggestions.Origin(model, prompt, who=who or myself())
        with self.catalog.writing() as db:
            suggestions.save(db, address, texts, origin)

    def settle_suggestions(self, ids: Iterable[int], state: SuggestionState, *, who: str = "") -> int:
        """They are taken, refused, or open again; how many that concerns. The record is not touched."""
        with self.catalog.writing() as db:
            return suggestions.settle(db, ids, state, who=who or myself())

    def save_filter(self, name: str, line: str) -> None:
        """Keep a line for filtering under a name, for everybody; the name's old one is replaced."""
        name = " ".join(name.split())
        if not name or len(name) > _NAME:
            raise InvalidRecord(f"a filter's name has 1 to {_NAME} characters")
        self._keep_filters({**self.saved_filters(), name: line})

    def keep_sample(self, picture: bytes) -> str:
        """Keep a picture that is searched with, and give the name that a question calls it by."""
        self.catalog.check_writable()
        with self._kept("the picture"):
            return samples.keep(self.layout, picture, disk=self._disk)

    def save_search(self, name: str, search: SavedSearch) -> None:
        """Keep a question under a name, for everybody."""
        with self._kept("the search"):
            saved_searches.save(self.catalog, name, search)

    def look_at_search(self, name: str, *, who: str = "") -> None:
        """What a saved search finds now is no longer new to this person."""
        with self._kept("the search"):
            saved_searches.looked(self.catalog, name, who=who or self.who, at=time.time())

    def forget_search(self, name: str) -> None:
        with self._kept("the search"):
            saved_searches.forget(self.catalog, name)

    def save_preset(self, name: str, weights: Mapping[Facet, float]) -> None:
        """Keep the weights of a search under a name, for everybody."""
        with self._kept("the preset"):
            saved_searches.save_preset(self.catalog, name, checked_weights(weights))

    def forget_preset(self, name: str) -> None:
        with self._kept("the preset"):
            saved_searches.forget_preset(self.catalog, name)

    @staticmethod
    @contextlib.contextmanager
    def _kept(what: str) -> Iterator[None]:
        try:
            yield
        except REFUSALS as error:
            raise NotWritten(f"{what} could not be kept: {error}") from error

    def forget_filter(self, name: str) -> None:
        self._keep_filters({key: line for key, line in self.saved_filters().items() if key != name})

    def _keep_filters(self, filters: Mapping[str, str]) -> None:
        try:
            self.catalog.set_meta(SAVED_FILTERS, json.dumps(dict(sorted(filters.items()))))
        except REFUSALS as error:
            raise NotWritten(f"the filter could not be kept: {error}") from error

    def save_golden(
        self, line: str, answers: Iterable[str], *, collection: str = golden.OWN, who: str = ""
    ) -> None:
        """Keep a question with its right answers; the line's earlier ones are replaced."""
        golden.save(self.catalog, self.layout, Golden(line, tuple(answers), collection, who=who or myself()))

    def forget_golden(self, line: str) -> None:
        golden.forget(self.catalog, self.layout, line)

    def take_in_golden(self, collection: str, content: bytes) -> None:
        """Make a collection of golden queries what this file says."""
        golden.take_in_file(self.catalog, collection, content)
        golden.write_file(self.catalog, self.layout, collection)

    def judge_result(self, line: str, address: str, good: bool | None, *, who: str = "") -> None:
        """Say of one result of a question that it is good or bad; None takes it back."""
        golden.judge(self.catalog, line, address, good, who=who or myself())

    def calibrate(self, *, who: str = "") -> Calibration:
        """Measure where this model's cosines lie in this library, as a new version that holds from now on."""
        snapshot = self.snapshot()
        if len(snapshot) < calibration.LEAST_RECORDS:
            raise InvalidRecord(
                f"a library can be calibrated from {calibration.LEAST_RECORDS} coins on; "
                f"this one holds {len(snapshot)}"
            )
        figures = calibration.measure(snapshot, self.embedder)
        with self.catalog.writing() as db:
            calibration.save(db, figures, embedder=self.embedder, records=len(snapshot), who=who or myself())
            made = calibration.latest(db, fingerprint=self.embedder.fingerprint)
        assert made is not None
        return made

    def embed_all(self, embedder: Embedder, *, progress: Progress) -> bool:
        """Embed what lacks a vector of this model, then make it the library's; False when cancelled."""
        with self.catalog.lock:
            self._journal.finish_all()
        done = switching.embed_all(self.catalog, self.layout, embedder, progress=progress)
        if done:
            with self._embedder_lock:
                self._embedder = embedder
            self._follower.wake_if_needed()
        return done

    def examine_duplicates(self, *, progress: Progress | None = None) -> int:
        """Compare what is new with every record; how many that were. What is done is kept when cancelled."""
        return self._examiner.examine(progress=progress)

    def watch_for_duplicates(self) -> None:
        """The same in the background, now and after each change, until the library is closed.

        Pictures without a vector are embedded as well: by embedding, too, they may look like others.
        """
        for watcher in self._watchers:
            watcher.start()

    def watch_inbox(self, folder: Path) -> None:
        """Take in by itself what is put into this folder, until the library is closed."""
        if self._inbox is None:
            self._inbox = Watcher(Inbox(self, folder))

    def wait_for_chroma(self, timeout: float | None = None) -> bool:
        """Until Chroma has all that was decided (True), or fails or takes too long (False)."""
        return self._follower.wait(timeout)

    def check_chroma(self) -> list[str]:
        """What Chroma says otherwise than the catalog, in plain words."""
        return self._follower.check()

    def rebuild_chroma(self) -> None:
        """Make Chroma anew from the catalog's vectors; no model is needed."""
        self._follower.rebuild()

    def take_in_changes(self) -> None:
        """Finish what was decided, and let files that were changed outside win."""
        with self.catalog.lock:
            self._journal.finish_all()
            self._found = settle(self.catalog, self.layout)

    def finish_without_lost_files(self) -> list[str]:
        """Finish what waits for files that somebody removed; what was done about each, in plain words."""
        return self._journal.finish_without_lost()

    def close(self) -> None:
        """Finish what is at hand and let another process write."""
        with _opening:  # nobody here may find it closed, nor wait in vain for the lock
            if _open.get(self.layout.root) is not self:
                return
            try:
                if self._inbox:
                    self._inbox.close()
                self._jobs.close()
                self._saver.close()
                for watcher in self._watchers:
                    watcher.close()
                self._follower.close()
            finally:
                del _open[self.layout.root]
                super().close()
                self._lock.release()

    def _refreshed_search(self) -> Search:
        search = super()._refreshed_search()
        if resident := self._resident:
            self._saver.look(resident.matrices.snapshot(), fingerprint=resident.embedder.fingerprint)
        return search

    def _map_matrices(self) -> None:
        """From now on read from the new files, and let go of the memory."""
        with self._search_lock:
            self._resident = None

    def _chroma_fault(self) -> str:
        return self._follower.fault

    def _stuck(self) -> str:
        return self._journal.stuck

    def _faults(self) -> Iterable[str]:
        return (f"{fault.address}: {fault.reason}" for fault in self._found)

    # -- the one way they all go ---------------------------------------------------------------------------

    def _embed_taken_in(self) -> None:
        """Library records whose sidecars were changed outside have no vectors yet; many wait for doctor."""
        with self.catalog.reading() as db:
            (bare,) = db.execute(
                "SELECT count(*) FROM records WHERE tier = 'library' "
                "AND id NOT IN (SELECT record FROM embeddings)"
            ).fetchone()
        if 0 < bare <= _OPERATION:
            with contextlib.suppress(MemedexError, *REFUSALS):  # no model, or stuck: doctor says so
                self.embed_all(self.embedder, progress=Progress())

    def _move(
        self,
        verb: Move,
        addresses: Iterable[str],
        *,
        who: str,
        reason: str = "",
        progress: Progress | None = None,
        decision: str | None = None,
    ) -> Outcome:
        sources, target = _MOVES[verb]

        def moved(record: Record, state: State) -> State:
            if record.tier not in sources:
                raise InvalidRecord(f"{verb} takes from {' or '.join(sources)}; it is in {record.tier}")
            goal = target or state.came_from or "pending"
            return replace(state, tier=goal, came_from=record.tier if goal == "trash" else None)

        outcome = Outcome()
        decided = Decision(verb, who or myself(), reason=reason, id=decision or uuid4().hex)
        size = _EMBEDDED if verb == "promote" else _OPERATION
        for batch in _batches(dict.fromkeys(addresses), size, progress):
            changes = self._path.changes(batch, moved, outcome)
            self._carry_out(decided, changes, Payload(), outcome)
            if progress:
                progress.done += len(batch)
        if verb == "promote" and outcome.refused:
            self._note_troubles(outcome)
        return outcome

    def _note_troubles(self, outcome: Outcome) -> None:
        with contextlib.suppress(*REFUSALS), self.catalog.writing() as db:  # the answer says it all the same
            troubles.note(db, {refusal.item: refusal.reason for refusal in outcome.refused})

    def _parts(self, what: str, addresses: Iterable[str], decision: str) -> tuple[list[str], list[str]]:
        """Which of these the decision has changed already, and which it has still to change."""
        parts = list(addresses)
        with self.catalog.reading() as db:
            if history.is_reversed(db, decision):
                raise TakenBack(f"this {what} was taken back while it was under way; the rest is left alone")
            done = history.of_decision(db, decision, among=parts)
        return done, [one for one in parts if one not in done]

    def _rewrite(
        self,
        verb: str,
        addresses: Iterable[str],
        written: Callable[[Record], dict[str, Any]],
        *,
        who: str,
        sources: Mapping[Facet, Source] | None = None,
        decision: str | None = None,
        progress: Progress | None = None,
        in_trash: bool = False,
    ) -> Outcome:
        outcome = Outcome()
        decided = Decision(verb, who or myself(), sources=sources or {}, id=decision or uuid4().hex)
        for batch in _batches(dict.fromkeys(addresses), _EMBEDDED, progress):
            payload = Payload()

            def rewritten(record: Record, state: State, payload: Payload = payload) -> State:
                if record.tier == "trash" and not in_trash:
                    raise InvalidRecord("it is in the trash; restore it first")
                sidecar = written(record)
                validate(sidecar, tier=record.tier)
                content = sidecar_bytes(sidecar)
                payload.sidecars[content_hash(content)] = content
                return replace(state, sidecar_hash=content_hash(content))

            self._carry_out(decided, self._path.changes(batch, rewritten, outcome), payload, outcome)
            if progress:
                progress.done += len(batch)
        return outcome

    def _reverse(
        self, n: int, verb: str, choose: Callable[[sqlite3.Connection, str], str | None], *, who: str
    ) -> Outcome:
        outcome = Outcome()
        for number in range(n):
            with self._reversing:
                with self.catalog.reading() as db:
                    chosen = choose(db, who or myself())
                if chosen is None:
                    if number == 0:
                        raise NothingToUndo(f"there is nothing of yours to {verb}")
                    break
                if not self._reverse_one(chosen, Decision(verb, who or myself(), reverses=chosen), outcome):
                    break
        return outcome

    def _reverse_one(self, chosen: str, decision: Decision, outcome: Outcome) -> bool:
        """Bring back what one decision replaced, where nothing was changed since; False: the disk refused."""
        with self.catalog.reading() as db:
            events = history.events(db, decision=chosen, limit=-1)
        goals = {event.address: event for event in events}

        def reversed_(record: Record, state: State) -> State:
            event = goals[record.address]
            if state == event.before:  # an interrupted one came this far
                return state
            if state != event.after:
                raise InvalidRecord(f"it was changed since; {decision.verb} would lose that")
            if event.before is None:  # an import: nothing is ever thrown away
                return replace(state, tier="trash", came_from=state.tier)
            return event.before

        try:
            is_taxonomy = taxonomy_edits.take_back(
                self.catalog, self.layout, self._disk, decision=decision, more=bool(goals)
            )
        except MemedexError as error:
            outcome.refused.append(Refusal("taxonomy", str(error)))
            if isinstance(error, NotWritten):
                return False
            self._pass_over(chosen, outcome)
            return True
        done = 0
        for batch in _batches(goals, _OPERATION, None):
            done += len(batch)
            # Only the last part takes it back: what a crash or a full disk left over can still be taken back.
            part = decision if done == len(goals) else replace(decision, reverses=None)
            changes = self._path.changes(batch, reversed_, outcome)
            if not self._carry_out(part, changes, Payload(), outcome):
                return False
        if not (goals or is_taxonomy or judging.take_back(self.catalog, decision, outcome)):
            return False
        self._pass_over(chosen, outcome)
        return True

    def _pass_over(self, decision: str, outcome: Outcome) -> None:
        """The next undo goes further back, also when all of this one was refused."""
        try:
            with self.catalog.writing() as db:
                history.mark_reversed(db, decision)
        except REFUSALS as error:
            outcome.refused.append(Refusal(decision, f"nothing was changed: {error}"))

    def _carry_out(
        self, decision: Decision, changes: Iterable[Change], payload: Payload, outcome: Outcome
    ) -> bool:
        done = self._path.carry_out(decision, list(changes), payload, outcome)
        self._follower.wake_if_needed()
        for watcher in self._watchers:
            watcher.wake()
        return done

    def _tagged(self, record: Record, tags: Sequence[str]) -> dict[str, Any]:
        kept = list(dict.fromkeys(tag.strip() for tag in tags))
        return {**record.sidecar, "tags": kept, "tags_categories": self.taxonomy.categories(kept)}


def _settled(
    catalog: Catalog, layout: Layout, disk: Disk, embedder: Embedder | None
) -> tuple[Journal, list[Fault]]:
    """What every opening begins with: a model, nothing half done, and the files as somebody left them."""
    if not catalog.meta("model"):
        catalog.set_meta("model", embedder.name if embedder else resolve(settings().embedder))
    journal = Journal(catalog, layout, disk)
    journal.recover()
    return journal, settle(catalog, layout)


def _bring_up_to_date(layout: Layout, embedder: Embedder | None) -> None:
    """Write for a moment, for one who only wants to read: neither a model nor Chroma is opened."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        catalog = Catalog(layout.catalog, disk=Disk(), writable=True)
        try:
            _settled(catalog, layout, Disk(), embedder)
        finally:
            catalog.close()
    finally:
        lock.release()


def _batches(items: Iterable[_T], size: int, progress: Progress | None) -> Iterator[list[_T]]:
    """The items in batches, until there are no more or the progress is cancelled."""
    rest = iter(items)
    while not (progress and progress.cancelled) and (batch := list(islice(rest, size))):
        yield batch


def _forget_all() -> None:
    """A forked child has neither the parent's lock nor its threads: it must open for itself."""
    global _opening
    _opening = threading.Lock()  # another thread of the parent may have held it
    inherited = list(_open.values())
    _open.clear()
    for library in inherited:
        library._lock.forget()
        library.catalog.forget_writer()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


@atexit.register
def _close_all() -> None:
    for library in list(_open.values()):
        library.close()
