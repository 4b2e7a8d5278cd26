"""Following a truth with Chroma, in a thread of its own; failing, it is only behind, and tries again."""

import logging
import threading
from abc import ABC, abstractmethod

log = logging.getLogger(__name__)

_RETRY = 30.0  # seconds between tries while Chroma fails


class ChromaFollower(ABC):
    """Woken when there is something to apply; applies it until it is closed."""

    def __init__(self, *, thread: str) -> None:
        self.fault = ""  # why Chroma is behind; "" while it follows
        self._name = thread
        self._changed = threading.Condition()
        self._using = threading.Lock()  # Chroma's files: one at a time
        self._due = self._busy = self._closing = False
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """There is something to apply."""
        with self._changed:
            self._due = True
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until Chroma has caught up (True), or fails or takes too long (False)."""
        with self._changed:
            idle = self._changed.wait_for(lambda: not (self._due or self._busy) or bool(self.fault), timeout)
        return idle and self.behind == 0 and not self.fault  # a rebuild to come has no queue yet

    def close(self) -> None:
        """Stop after the batch at hand and take the dirty marker away."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        with self._using:
            self._let_go_cleanly()

    @property
    @abstractmethod
    def behind(self) -> int:
        """How much Chroma has not got yet."""

    @abstractmethod
    def wake_if_needed(self) -> None:
        """Chroma is opened only when it has something to get, or is not as it was left."""

    @abstractmethod
    def _follow(self) -> None:
        """Apply all there is."""

    @abstractmethod
    def _let_go(self) -> None:
        """Close Chroma, whatever state it is in."""

    def _give_up(self) -> None:
        """After a failure: begin with a new Chroma the next time."""
        self._let_go()

    @abstractmethod
    def _let_go_cleanly(self) -> None:
        """The same, and say that it was left well unless it was not."""

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._due or self._closing, _RETRY if self.fault else None)
                if self._closing:
                    return
                self._due, self._busy = False, True
            try:
                with self._using:
                    self._follow()
                self.fault = ""
            except BaseException as error:  # Chroma's Rust panics are no Exceptions
                log.exception("Chroma is behind")
                self._give_up()
                self.fault = f"{type(error).__name__}: {error}"
