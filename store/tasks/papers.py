"""The watched folder of papers: what is saved there can be asked for within seconds.

Each folder in it is a protocol; files at its top belong to the protocol called like the watched folder. A
changed file is a new version of its paper. A deleted file's paper stays, and one that a person removed does
not come back until its file changes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import BadSource
from store.memory.values import InvalidInput
from store.outcome import Outcome, Refusal
from store.progress import Progress
from store.tasks.inbox import PAPERS_LOG, WHO, WatchedFolder

if TYPE_CHECKING:
    from store.memory.memory import Memory


class PaperFolder(WatchedFolder):
    """The watched folder of papers."""

    setting = "MEMEDEX_PAPERS"
    log = PAPERS_LOG
    every = 1.0  # seconds: one that was still growing is read again, as a new version

    def __init__(self, open_memory: Callable[[], "Memory"], folder: Path) -> None:
        super().__init__(folder)
        self._open_memory = open_memory
        self._done: dict[str, str] = {}  # size and time of each file that this process has looked at

    def scan(self, *, progress: Progress | None = None) -> Outcome:
        """Import the papers that are new or changed, and unchanged since the last scan."""
        found, before = self._looked()
        ready = [
            name for name, stat in found.items() if before.get(name) == stat and self._done.get(name) != stat
        ]
        outcome = Outcome()
        if not ready:
            return outcome
        documents = self._open_memory().documents
        known = documents.watched_files()
        for name in ready:
            if progress and progress.cancelled:
                break
            path = self.folder / name
            stat, reason = known.get(str(path), ("", ""))
            if stat != found[name] or reason:  # what was refused may be read by this version
                before_it, reason = reason, self._imported(name, outcome, progress)
                documents.note_watched_file(str(path), found[name], reason)
                if reason and reason != before_it:
                    self._tell([(name, reason)])
            self._done[name] = found[name]
        return outcome

    def _imported(self, name: str, outcome: Outcome, progress: Progress | None) -> str:
        """Import a file; returns why it was refused, or ""."""
        top, is_inside, _ = name.partition("/")
        try:
            one = self._open_memory().documents.import_document(
                self.folder / name,
                protocol=top if is_inside else self.folder.name,
                progress=progress,
                actor=WHO,
            )
        except (BadSource, InvalidInput) as error:
            outcome.refused.append(Refusal(name, str(error)))
            return str(error)
        outcome.done.append(one.source.id)
        return ""
