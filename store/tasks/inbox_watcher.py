"""Notice new files in the inbox: by the system's notifications, or by the folders' times."""

import logging
import re
import threading
import time
from pathlib import Path

from store.disk.file_system import identity
from store.jobs.background_worker import Worker, close_all
from store.progress import Progress
from store.tasks import inbox as inboxes
from store.tasks.inbox import Inbox, may_be_taken

log = logging.getLogger(__name__)

NOTIFIED = 60.0  # seconds between two looks at the folders' times where the system tells of changes as well
ALL = (
    600.0  # seconds until every file is looked at without a cause: one written to in place on another machine
)
_TIMEOUT = 10.0  # seconds at most that the end waits for a look, whose folder may be on a network
_SHARE = 0.01  # of the time, at most, goes into looking at the folders' times
_STEP = 250  # milliseconds between two looks of watchfiles at what the system told it
_CALM = 5_000  # milliseconds after which it answers that nothing changed
# Where another machine may write, the system hears nothing; folders shared with a virtual machine alike.
_REMOTE = re.compile(
    r"nfs\d?|cifs|smb\w*|9p|afs|ceph|coda|davfs|drvfs|lustre|beegfs|orangefs|prl_fs|vboxsf|virtiofs"
    r"|fakeowner|fuse(\..+)?"
)


class Watcher:
    """Looks through the inbox whenever something in it may have changed, until it is closed."""

    def __init__(self, inbox: Inbox) -> None:
        self.looking = Worker("watching the inbox", self._look)
        self.listening = Worker("listening for changes of the inbox", self._listen)
        self._inbox = inbox
        self._end = threading.Event()
        self._is_due = True  # something may have changed
        self._is_told = False  # whether the system tells of changes
        # On the monotonic clock. Two looks at one moment would take any file for a whole one.
        self._earliest = self._all_at = 0.0
        self.looking.wake()
        self.listening.wake()

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The background workers of the inbox."""
        return self.looking, self.listening

    def stop(self) -> None:
        """Tell it to end before the next batch; returns at once."""
        self._end.set()
        for worker in self.workers:
            worker.stop()

    def close(self) -> None:
        """Stop before the next batch; one that takes too long is left, and refused by the closed library."""
        self.stop()
        close_all(self.workers, timeout=_TIMEOUT, interrupt=lambda _: None)

    def _look(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._earliest:
            self.looking.wake(after=self._earliest - now)
            return
        if not (self._is_due or now >= self._all_at or self._inbox.has_changed()):
            pause = NOTIFIED if self._is_told else max(inboxes.EVERY, (time.monotonic() - now) / _SHARE)
            self.looking.wake(after=pause)
            return
        self._is_due = False
        try:
            report = self._inbox.scan(progress=progress)
            report.raise_failure()  # the worker shows it, and tries again
        except BaseException:
            self._is_due = True
            raise
        if self._inbox.is_restless:
            self._is_due = True
        self._earliest = time.monotonic() + inboxes.EVERY
        self._all_at = time.monotonic() + ALL
        self.looking.wake(after=inboxes.EVERY)

    def _listen(self, _: Progress) -> None:
        """Wait for notifications until the inbox is closed or its folder replaced; tries again on failure."""
        folder = self._inbox.folder
        if not is_remote(folder):
            try:
                self._hear(folder)
            except (OSError, RuntimeError) as error:  # no folder, or no room for watches
                log.info("the inbox is watched by its folders' times: %s", error)
            self._is_told = False
        if not self._end.is_set():
            self.listening.wake(after=NOTIFIED)

    def _hear(self, folder: Path) -> None:
        from watchfiles import watch

        which = identity(folder)
        for changes in watch(
            folder, watch_filter=lambda _, path: may_be_taken(Path(path).name), stop_event=self._end,
            step=_STEP, rust_timeout=_CALM, yield_on_timeout=True, raise_interrupt=False,
            force_polling=False, ignore_permission_denied=True,
        ):  # fmt: skip
            self._is_told = True
            if changes:
                self._is_due = True
                self.looking.wake()
            elif identity(folder) != which:  # moved or replaced: it sends no more notifications
                return


def is_remote(folder: Path, *, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Whether the folder is on a file system without notifications: a network's, or another system's disk."""
    try:
        rows = [line.split() for line in mounts.read_text(errors="replace").splitlines()]
    except OSError:  # no Linux: nothing is known of it
        return False
    path = folder.resolve()
    places = [(row[1].encode().decode("unicode_escape"), row[2]) for row in rows if len(row) > 2]
    around = [(len(place), kind) for place, kind in places if path.is_relative_to(place)]
    return bool(around) and _REMOTE.fullmatch(max(around)[1]) is not None
