"""The library: the verbs that change its records, and what works beside them."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from store import history, moving, switching, taxonomy_edits
from store.background import Background
from store.captions.replacing import Replacement
from store.catalog import REFUSALS, is_made, opening
from store.chroma.follower import Follower
from store.embedding import Embedder
from store.errors import LibraryInUse, MemedexError, ReadOnly
from store.files import Disk
from store.importing.candidate import Candidate, Refusal, shown
from store.in_hand import InHand
from store.inbox import Inbox, Watcher
from store.jobs import Jobs
from store.kinds import KINDS
from store.layout import Layout
from store.lock import WriterLock
from store.looking import Onlooker
from store.opening import is_stale, settle
from store.outcome import ImportReport, Outcome
from store.people import myself
from store.progress import Progress
from store.reading import Reader, Status
from store.records import Facet
from store.search.matrix_files import MatrixSaver
from store.settings import settings
from store.taxonomy import Taxonomy
from store.writers import Writers
from store.writing import changing, rewriting
from store.writing.changing import Changing, Move, batches
from store.writing.operations import Source
from store.writing.recovery import bring_up_to_date, recover
from store.writing.undoing import Undoing
from store.writing.write_path import Decision, WritePath


class Library(Reader):
    """The one writer of a library's folder."""

    can_write = True

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        disk: Disk | None = None,
        progress: Progress | None = None,
    ) -> "Library":
        """The library in this folder, made if there is none; LibraryInUse while another process writes.

        ReadOnly where the settings say that nobody changes anything.
        """
        if settings().read_only:
            raise ReadOnly("nothing can be changed here while MEMEDEX_READ_ONLY is set")
        layout = Layout(Path(root).resolve())
        with opening(layout.catalog):
            return _writers.open(
                layout.root,
                lambda lock: cls(layout.root, embedder=embedder, disk=disk, lock=lock, progress=progress),
                lock=layout.lock,
            )

    @staticmethod
    def open_for_reading(root: Path, *, embedder: Embedder | None = None) -> Reader:
        """The library as its catalog knows it; brought up to date first when nobody else is writing."""
        layout = Layout(Path(root).resolve())
        with opening(layout.catalog):
            if not is_made(layout.catalog):
                bring_up_to_date(layout, embedder)
            reader = Reader(layout.root, embedder=embedder)
            if WriterLock(layout.lock).is_free() and is_stale(reader.catalog, layout):
                with contextlib.suppress(LibraryInUse):  # somebody was quicker, and does it
                    bring_up_to_date(layout, embedder)
        return reader

    def __init__(
        self,
        root: Path,
        *,
        embedder: Embedder | None,
        disk: Disk | None,
        lock: WriterLock,
        progress: Progress | None,
    ) -> None:
        self._lock = lock
        super().__init__(root, embedder=embedder, disk=disk)
        try:
            self._begin(embedder, progress)
        except BaseException:
            self.catalog.close()
            raise

    def _begin(self, embedder: Embedder | None, progress: Progress | None) -> None:
        catalog, layout = self.catalog, self.layout
        self._journal, self._found = recover(catalog, layout, self._disk, embedder, progress=progress)
        taxonomy_edits.finish(catalog, layout, self._disk)
        _ = self.taxonomy  # a broken one is said at once
        in_hand = InHand()
        path = WritePath(catalog, layout, self._journal, embedder=lambda: self.embedder, in_hand=in_hand)
        self._changing = Changing(catalog, path, changed=self._wake)
        self._undoing = Undoing(catalog, layout, self._disk, self._changing)
        self._follower = Follower(catalog, layout, model=lambda: self.model)
        self._saver = MatrixSaver(catalog, layout, saved=self._resident.let_go)
        self._resident.on_refresh = self._saver.look
        self._onlooker = Onlooker(
            catalog, embedder=lambda: self.embedder, picture=self.picture, in_hand=in_hand
        )
        self._watchers = (
            Background("duplicates", lambda progress: self.duplicates.examine(progress=progress)),
            Background("looks", self._onlooker.look),
        )
        self._inbox: Watcher | None = None
        self.jobs = Jobs.to_do(catalog, KINDS, self)
        self._embed_taken_in()
        self._follower.wake_if_needed()
        self.golden.take_in_changes()

    # -- verbs that move records ---------------------------------------------------------------------------

    def approve(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Pending to approved."""
        return self._changing.move("approve", addresses, who=who)

    def give_back(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Approved to pending; the verb `return`."""
        return self._changing.move("return", addresses, who=who)

    def reject(self, addresses: Iterable[str], *, reason: str = "", who: str = "") -> Outcome:
        """Pending or approved to the trash."""
        return self._changing.move("reject", addresses, who=who, reason=reason)

    def promote(
        self, addresses: Iterable[str], *, progress: Progress | None = None, who: str = ""
    ) -> Outcome:
        """Approved to the library, every facet embedded; what lacks a caption is refused."""
        return self._changing.move("promote", addresses, who=who, progress=progress)

    def degrade(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Library to approved; caption, tags and vectors stay."""
        return self._changing.move("degrade", addresses, who=who)

    def delete(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Any tier to the trash."""
        return self._changing.move("delete", addresses, who=who)

    def restore(self, addresses: Iterable[str], *, who: str = "") -> Outcome:
        """Trash to where it was."""
        return self._changing.move("restore", addresses, who=who)

    def move(
        self, verb: Move, addresses: Iterable[str], *, decision: str, reason: str = "", who: str = ""
    ) -> Outcome:
        """A part of a decision too large for one call; what an earlier part of it did is not done again.

        TakenBack once the decision was undone: what is left of it must not follow.
        """
        done, left = self._changing.parts(verb, addresses, decision)
        outcome = self._changing.move(verb, left, who=who, reason=reason, decision=decision)
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
            self._changing.parts("import", (), decision)
        report = ImportReport()
        decided = Decision("import", who or myself(), reason=shown(source), id=decision or uuid4().hex)
        for batch in batches(candidates, changing.EMBEDDED, progress):
            changes, payload = take_in(batch, report, reader=self, taxonomy=self.taxonomy)
            self._changing.carry_out(decided, changes, payload, report)
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

        written = rewriting.captioned(caption, tags=tags, revision=revision, taxonomy=self._taxonomy_now)
        outcome = self._changing.rewrite("caption", [address], written, who=who, sources=sources)
        if outcome.done and not outcome.decision:  # it said so already
            with contextlib.suppress(*REFUSALS):
                self.drafts.discard(address, who=who)
        return outcome

    def replace(
        self, wanted: Iterable[Replacement], *, progress: Progress | None = None, who: str = ""
    ) -> Outcome:
        """Put the texts that were looked at in place of the old ones, as one decision, undone as one.

        A record changed since it was looked at is refused.
        """
        addresses, written = rewriting.replaced(wanted)
        return self._changing.rewrite("replace", addresses, written, who=who, progress=progress)

    def take_in_captions(
        self, wanted: Mapping[str, Mapping[str, Any]], *, decision: str, who: str = ""
    ) -> Outcome:
        """Write captions and tags that came from outside (`captions/takeovers.py`), as a part of a decision.

        A record changed since it was looked at is refused; what an earlier part did is not done again.
        """
        done, left = self._changing.parts("import of captions", wanted, decision)
        written = rewriting.taken_in(wanted, taxonomy=self._taxonomy_now)
        outcome = self._changing.rewrite("captions", left, written, who=who, decision=decision)
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
        done, left = self._changing.parts("change", addresses, decision) if decision else ([], addresses)
        outcome = self._changing.rewrite(
            "rename tag" if names else "tag",
            left,
            rewriting.retagged(add=add, remove=remove, names=names, taxonomy=self._taxonomy_now),
            who=who,
            decision=decision,
            progress=progress,
            in_trash=not (add or remove),
        )
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

    # -- undo ----------------------------------------------------------------------------------------------

    def undo(self, n: int = 1, *, who: str = "") -> Outcome:
        """Take back one's own last n decisions; NothingToUndo when there is none.

        Long work that makes the last one is stopped first; stopped before it began, that is all there is.
        """
        with self.catalog.reading() as db:
            last = history.to_undo(db, who or myself())
        stopped = moving.stop_own(self, who=who or myself(), last=last)
        if stopped and not stopped.done and stopped.decision != last:
            return Outcome()
        return self._undoing.undo(n, who=who)

    def redo(self, n: int = 1, *, who: str = "") -> Outcome:
        """Do again what was undone last, unless something new was decided since."""
        return self._undoing.redo(n, who=who)

    def take_back(
        self, decisions: Sequence[str], *, who: str = "", progress: Progress | None = None
    ) -> Outcome:
        """Undo these decisions one by one, whoever made them; an undo among them is done again.

        What was changed since is refused, record by record; what is taken back already is passed over. Give
        the newest first. Cancelled in the middle of one, the rest of it can still be taken back.
        """
        return self._undoing.take_back(decisions, who=who, progress=progress)

    # -- model, Chroma, files, end -------------------------------------------------------------------------

    def embed_all(self, embedder: Embedder, *, progress: Progress) -> bool:
        """Embed what lacks a vector of this model, then make it the library's; False when cancelled."""
        with self.catalog.lock:
            self._journal.finish_all()
        done = switching.embed_all(self.catalog, self.layout, embedder, progress=progress)
        if done:
            self._model.use(embedder)
            self._follower.wake_if_needed()
        return done

    def watch_for_duplicates(self) -> None:
        """Look for duplicates in the background, now and after each change, until the library is closed.

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

    def status(self) -> Status:
        """Whether all is well, and what is in the way where it is not."""
        return replace(
            super().status(),
            chroma_fault=self._follower.fault,
            stuck=self._journal.stuck,
            faults=tuple(f"{fault.address}: {fault.reason}" for fault in self._found),
        )

    def close(self) -> None:
        """Finish what is at hand and let another process write."""
        _writers.close(self.layout.root, self, end=self._end)

    def forget(self) -> None:
        """In a forked child: leave the lock and the catalog to the parent."""
        self._lock.forget()
        self.catalog.forget_writer()

    def _end(self) -> None:
        try:
            if self._inbox:
                self._inbox.close()
            self.jobs.close()
            self._saver.close()
            for watcher in self._watchers:
                watcher.close()
            self._follower.close()
        finally:
            super().close()
            self._lock.release()

    def _wake(self) -> None:
        """Something was changed: whoever follows has work."""
        self._follower.wake_if_needed()
        for watcher in self._watchers:
            watcher.wake()

    def _taxonomy_now(self) -> Taxonomy:
        return self.taxonomy

    def _embed_taken_in(self) -> None:
        """Library records whose sidecars were changed outside have no vectors yet; many wait for doctor."""
        with self.catalog.reading() as db:
            (bare,) = db.execute(
                "SELECT count(*) FROM records WHERE tier = 'library' "
                "AND id NOT IN (SELECT record FROM embeddings)"
            ).fetchone()
        if 0 < bare <= changing.OPERATION:
            with contextlib.suppress(MemedexError, *REFUSALS):  # no model, or stuck: doctor says so
                self.embed_all(self.embedder, progress=Progress())


_writers: Writers[Library] = Writers()
