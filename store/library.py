"""The library: the verbs that change its records."""

import contextlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store.captions.caption_text import Replacement
from store.catalog import history
from store.catalog.catalog import DISK_ERRORS
from store.catalog.history import Undo
from store.chroma.follower import ChromaFollower, FollowedByChroma
from store.disk.sqlite import SqliteFile
from store.embedding import embedding_cache
from store.embedding.active_model import KeptVectors
from store.embedding.embedding_cache import ModelVectors
from store.embedding.prefetch import InFlight
from store.embedding.protocol import Embedder
from store.errors import InvalidRecord, MemedexError
from store.importing.candidate import Candidate, shown
from store.jobs import cancel_own
from store.operations import CaptionSource
from store.outcome import ImportReport, Outcome, Refusal
from store.progress import Progress, batches
from store.reading.reader import Reader
from store.records import Facet, Record
from store.tags import taxonomy_file
from store.writing import edits, transitions, trash
from store.writing.journal import Journal
from store.writing.prepare import WritePath
from store.writing.reconcile import Fault, reconcile
from store.writing.transitions import Move, Note, Obstacle, RecordReversal, Transitions
from store.writing.trash import Trash


class Library(FollowedByChroma, Reader):
    """Every change of a library's records is one of these verbs, and can be undone.

    If opened for reading, or used by a viewer, each raises ReadOnly. Each takes the id of its `decision`,
    which the caller may make (`uuid4().hex`): given again with the same id, only what is left of it is done.
    It raises NotPermitted for the id of another person's decision, Superseded if the decision was undone.
    """

    def _make_shared(self) -> None:
        super()._make_shared()
        self._journal = Journal(self.catalog, self.layout, self._disk)
        self._follower: ChromaFollower | None = None  # in the process that writes (`store/runtime.py`)
        self._erasing = threading.Lock()
        self._found: list[Fault] = []  # files that cannot be taken in
        self._in_flight = in_flight = InFlight()
        self._path = WritePath(
            self.catalog, self.layout, self._journal, embedder=lambda: self.embedder, in_flight=in_flight
        )
        self._undo_lock = threading.Lock()

    def _make_parts(self) -> None:
        super()._make_parts()
        self._transitions = Transitions(self.catalog, self._path, changed=self._changed)
        self.trash = Trash(
            self.catalog, self.layout, self._path, changed=self._changed, erase=self.finish_erasing
        )
        records = RecordReversal(self.catalog, self.layout, self._disk, self._transitions)
        self._undo = Undo(self.log, turn=lambda: self._undo_lock, reverse=records.reverse)

    def _changed(self) -> None:
        """Tell the followers that something changed."""

    def look_again(self) -> None:
        """Have the workers of a dashboard look for work, although no coin changed."""
        self.catalog.check_writable()
        self._changed()

    # -- verbs that move records ---------------------------------------------------------------------------

    def approve(self, addresses: Iterable[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Move records from pending to approved."""
        return self._transitions.move("approve", addresses, actor=actor, decision=decision)

    def send_back(self, addresses: Iterable[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Move records from approved to pending; in the history the verb is `return`."""
        return self._transitions.move("return", addresses, actor=actor, decision=decision)

    def reject(
        self, addresses: Iterable[str], *, reason: str = "", actor: str = "", decision: str | None = None
    ) -> Outcome:
        """Move records from pending or approved to the trash."""
        return self._transitions.move("reject", addresses, actor=actor, reason=reason, decision=decision)

    def promote(
        self,
        addresses: Iterable[str],
        *,
        progress: Progress | None = None,
        actor: str = "",
        decision: str | None = None,
    ) -> Outcome:
        """Move records that have a caption from approved to the library, every facet embedded."""
        return self._transitions.move("promote", addresses, actor=actor, progress=progress, decision=decision)

    def degrade(self, addresses: Iterable[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Move records from the library to approved; caption, tags and vectors stay."""
        return self._transitions.move("degrade", addresses, actor=actor, decision=decision)

    def delete(self, addresses: Iterable[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Move records from any tier to the trash."""
        return self._transitions.move("delete", addresses, actor=actor, decision=decision)

    def restore(self, addresses: Iterable[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Move records from the trash to their former tier."""
        return self._transitions.move("restore", addresses, actor=actor, decision=decision)

    def move(
        self, verb: Move, addresses: Iterable[str], *, decision: str, reason: str = "", actor: str = ""
    ) -> Outcome:
        """Run one part of a decision that is too large for one call; finished records are skipped."""
        return self._transitions.move(verb, addresses, actor=actor, reason=reason, decision=decision)

    def note(
        self,
        verb: Note,
        addresses: Sequence[str],
        *,
        reason: str = "",
        obstacle: Obstacle = lambda db, address: "",
        actor: str = "",
        decision: str | None = None,
    ) -> Outcome:
        """Record what a person says of records, which changes nothing of them (`rules/second_opinions.py`).

        Those are refused for which `obstacle`, asked within the transaction, gives a reason.
        """
        outcome = Outcome()
        decided = self.catalog.decide(verb, actor=actor, reason=reason, id=decision)
        if decision:
            self._transitions.check_not_undone(decision)
        self._transitions.note(decided, addresses, outcome, obstacle=obstacle)
        return outcome

    # -- verbs that change what a record says --------------------------------------------------------------

    def add(
        self,
        candidates: Iterable[Candidate | Refusal],
        *,
        source: str = "",
        decision: str | None = None,
        embed: bool = True,
        progress: Progress | None = None,
        actor: str = "",
    ) -> ImportReport:
        """Add candidates, each to its tier; records that exist get only what they lack.

        `source` names where they come from, for the history and for filters. `decision` makes it part of that
        decision. What comes into the library is embedded at the end, unless `embed` is False.
        """
        from store.writing.intake import Intake  # brings Pillow along

        decided = self.catalog.decide("import", actor=actor, reason=shown(source), id=decision)
        if decision:
            self._transitions.check_not_undone(decision)
        report, waits = ImportReport(), False
        with Intake(report, reader=self, taxonomy=self.taxonomy) as intake:
            for batch in batches(intake.ahead(candidates), transitions.EMBEDDED, progress):
                changes, payload = intake.ingest(batch)
                self._transitions.carry_out(decided, changes, payload, report)
                self._complete(intake.present, report, decision=decided.id, actor=actor)
                waits = waits or any(change.after.tier == "library" for change in changes)
        if waits and embed:
            with contextlib.suppress(MemedexError):  # no model: they wait, and doctor says so
                self.embed_all(self.embedder, progress=progress or Progress())
        return report

    def _complete(
        self, given: Mapping[str, Candidate], report: ImportReport, *, decision: str, actor: str
    ) -> None:
        """Write what these coins lack and an import states, as part of its decision."""
        from store.writing.edits import Completion, compared, completed

        found: dict[str, Completion] = {}

        def compare(record: Record) -> Completion:
            candidate = given[record.address]
            found[record.address] = one = compared(
                record, candidate.sidecar, earlier=lambda: self.sidecars_of(record.address),
                picture_name=candidate.picture_name,
            )  # fmt: skip
            return one

        def written(record: Record) -> dict[str, Any]:
            fields = dict(compare(record).fields)
            if "tags" in fields:
                own = given[record.address].sidecar.get("tags_categories")
                fields["tags_categories"] = own or self.taxonomy.categories(fields["tags"])
            return completed(record.sidecar, fields)

        lacking = [address for address in given if compare(self.get(address)).fields]
        if lacking:
            done = self._transitions.rewrite("complete", lacking, written, actor=actor, decision=decision)
            report.completed += [address for address in done.done if address not in done.unchanged]
            report.refused += done.refused
            report.decision = done.decision or report.decision
            report.failure, report.stuck = report.failure or done.failure, report.stuck or done.stuck
        report.not_taken += [one for address in given for one in found[address].not_taken]

    def caption(
        self,
        address: str,
        *,
        caption: Mapping[Facet, str | None],
        tags: Sequence[str] | None = None,
        revision: int | None = None,
        sources: Mapping[Facet, CaptionSource] | None = None,
        actor: str = "",
        decision: str | None = None,
    ) -> Outcome:
        """Write facets: a text, "" to leave one empty on purpose, None to clear it; others stay as they are.

        In the library, only changed facets are embedded again. Refuses a record whose revision differs from
        `revision`. `sources` names the model of each facet that a model wrote. Ends the person's own draft.
        """
        written = edits.with_caption(caption, tags=tags, revision=revision, taxonomy=lambda: self.taxonomy)
        outcome = self._transitions.rewrite(
            "caption", [address], written, actor=actor, sources=sources, decision=decision
        )
        if outcome.done and not outcome.decision:  # it said so already
            with contextlib.suppress(*DISK_ERRORS):
                self.drafts.discard(address, actor=actor)
        return outcome

    def correct_text(
        self, addresses: Iterable[str], text: str | None, *, actor: str = "", decision: str | None = None
    ) -> Outcome:
        """Correct the text in these pictures, "" for none; with None what a program read counts again."""
        return self._transitions.rewrite(
            "correct text", addresses, edits.with_picture_text(text), actor=actor, decision=decision
        )

    def comment(
        self, addresses: Iterable[str], text: str, *, actor: str = "", decision: str | None = None
    ) -> Outcome:
        """Add a comment to these records, rejected ones too; who wrote it when stays with it."""
        written = edits.with_comment(text, who=actor or self.actor_name, at=time.time())
        return self._transitions.rewrite(
            "comment", addresses, written, actor=actor, decision=decision, reason=text.strip(), in_trash=True
        )

    def flag(
        self, addresses: Iterable[str], unfit: bool | None, *, actor: str = "", decision: str | None = None
    ) -> Outcome:
        """Say whether these coins are unfit for the screen; with None picture and words decide again."""
        return self._transitions.rewrite(
            "flag", addresses, edits.with_flag(unfit), actor=actor, decision=decision, in_trash=True
        )

    def replace(
        self,
        replacements: Iterable[Replacement],
        *,
        progress: Progress | None = None,
        actor: str = "",
        decision: str | None = None,
    ) -> Outcome:
        """Replace texts as one decision. A record changed since the preview is refused."""
        addresses, written = edits.with_replacements(replacements)
        return self._transitions.rewrite(
            "replace", addresses, written, actor=actor, progress=progress, decision=decision
        )

    def import_captions(
        self, captions: Mapping[str, Mapping[str, Any]], *, decision: str, actor: str = ""
    ) -> Outcome:
        """Write imported captions and tags as part of a decision (`tasks/import_captions.py`).

        A record changed since the preview is refused; records done by an earlier part are skipped.
        """
        written = edits.with_imported(captions, taxonomy=lambda: self.taxonomy)
        return self._transitions.rewrite("captions", captions, written, actor=actor, decision=decision)

    def edit_tags(
        self,
        addresses: Iterable[str],
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        decision: str | None = None,
        progress: Progress | None = None,
        actor: str = "",
    ) -> Outcome:
        """Rename, add and remove tags; categories follow from the taxonomy.

        A tag that is renamed to "" is removed, in the trash as well. Without tags to edit it only updates
        categories, in the trash as well. With `decision` it is a part of that decision, as in `move`.
        """
        names = rename or {}
        return self._transitions.rewrite(
            edits.tag_verb(names),
            addresses,
            edits.with_tags(add=add, remove=remove, names=names, taxonomy=lambda: self.taxonomy),
            actor=actor,
            decision=decision,
            progress=progress,
            in_trash=not (add or remove),
        )

    def edit_taxonomy(
        self, entries: Mapping[str, str], *, verb: str = "taxonomy", decision: str, actor: str = ""
    ) -> None:
        """Replace the known tags and categories, once for each decision; `edit_tags` updates records."""
        decided = self.catalog.decide(verb, actor=actor, id=decision)
        taxonomy_file.edit(self.catalog, self.layout, self._disk, entries, decision=decided)

    # -- undo ----------------------------------------------------------------------------------------------

    def undo(self, n: int = 1, *, actor: str = "") -> Outcome:
        """Undo one's own last n decisions, after stopping a job of the last one. Raises NothingToUndo."""
        self.catalog.check_writable()
        person = actor or self.actor_name
        last = self.to_undo(actor=person)
        stopped = cancel_own.stop_own(self.jobs, actor=person, last=last)
        if stopped and not stopped.done and (last is None or stopped.decision != last.id):
            return Outcome()
        return self._undo.last("undo", n, actor=actor)

    def redo(self, n: int = 1, *, actor: str = "") -> Outcome:
        """Redo the last undo. Raises NothingToUndo if there is none or the person decided something since."""
        return self._undo.last("redo", n, actor=actor)

    def undo_decisions(
        self,
        decisions: Sequence[str],
        *,
        actor: str = "",
        progress: Progress | None = None,
        decision: str | None = None,
    ) -> Outcome:
        """Undo these decisions one by one, newest first, of any person; an undo among them is redone.

        Records changed since are refused one by one; decisions already undone are skipped. If it is
        cancelled, the rest can still be undone. `decision` is the id of what undoes the first.
        """
        if progress:
            with self.catalog.reading() as db:
                progress.total = sum(history.size(db, one) for one in decisions)
        return self._undo.decisions(decisions, actor=actor, progress=progress, id=decision)

    # -- model, vectors, Chroma and files changed outside ---------------------------------------------------

    def embed_all(self, embedder: Embedder, *, progress: Progress) -> bool:
        """Embed what has no vector of this model, then make it the library's model; False if cancelled."""
        self.catalog.check_writable()
        with self.catalog.lock:
            self._journal.finish_all()
        done = embedding_cache.embed_all(self.catalog, self.layout, embedder, progress=progress)
        if done:
            self._model.use(embedder)
            self._changed()
        return done

    def use_kept_vectors(self, model: KeptVectors) -> None:
        """Make a model that is not on this machine the library's, with the vectors that are stored of it."""
        self.catalog.check_writable()
        embedding_cache.use_kept(self.catalog, self.layout, model)
        self._model.use(model)
        self._changed()

    def delete_vectors(self, model: str, *, actor: str = "") -> ModelVectors | None:
        """Delete for good every vector of a model not in use; how many. Raises InvalidRecord."""
        found = next((one for one in self.vectors_by_model() if one.model == model), None)
        if found and found.is_in_use:
            raise InvalidRecord(f"{model} is the model of this library; choose another one first: model NAME")
        if found:
            with self.catalog.writing() as db:
                embedding_cache.delete_vectors(db, found, actor=actor or self.actor_name)
        return found

    def _led(self) -> tuple[SqliteFile, ChromaFollower | None]:
        return self.catalog, self._follower

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
