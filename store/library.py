"""The library: the verbs that change its records."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from store import history, moving, taxonomy_edits
from store.captions.replacing import Replacement
from store.catalog import REFUSALS
from store.holder import Holder
from store.importing.candidate import Candidate, Refusal, shown
from store.inbox import Inbox, Watcher
from store.outcome import ImportReport, Outcome
from store.people import myself
from store.progress import Progress
from store.records import Facet
from store.writing import changing, rewriting
from store.writing.changing import Move, batches
from store.writing.operations import Source
from store.writing.write_path import Decision


class Library(Holder):
    """Every change of a library's records is one of these verbs, and can be undone."""

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

    def watch_inbox(self, folder: Path) -> None:
        """Take in by itself what is put into this folder, until the library is closed."""
        if self._inbox is None:
            self._inbox = Watcher(Inbox(self, folder))

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

        written = rewriting.captioned(caption, tags=tags, revision=revision, taxonomy=lambda: self.taxonomy)
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
        written = rewriting.taken_in(wanted, taxonomy=lambda: self.taxonomy)
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
            rewriting.retagged(add=add, remove=remove, names=names, taxonomy=lambda: self.taxonomy),
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
