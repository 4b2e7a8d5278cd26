"""The kinds of text memory, each with its file and its collection, and how those of a root are opened."""

import logging
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from store.disk.files import Disk
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile
from store.memory import memories
from store.memory.documents import schema
from store.memory.engine.kind import MemoryKind
from store.memory.engine.passages import Passages
from store.memory.story import lore, sessions
from store.memory.transcripts import tables

KINDS = (memories.KIND, schema.KIND, lore.KIND, sessions.KIND, tables.KIND)

log = logging.getLogger(__name__)

GivePassages = Callable[..., Passages]


class OpenedKinds(dict[str, Passages]):
    """The passages of each kind of a root, by its name.

    One whose file cannot be used is empty, so that no other kind is affected.
    """

    def __init__(self, root: Path, give: GivePassages, *, disk: Disk | None, writable: bool) -> None:
        """`give` opens one kind: `give(root, kind=…, writable=…)`."""
        super().__init__()
        self._elsewhere: TemporaryDirectory[str] | None = None  # of empty kinds
        try:
            for kind in KINDS:
                try:
                    self[kind.name] = give(root, kind=kind, disk=disk, writable=writable)
                except (CatalogDamaged, CatalogTooNew, ForeignFile) as error:
                    log.warning("%s cannot be used: %s", kind.name, error)
                    self[kind.name] = self._empty(give, kind, fault=str(error))
        except BaseException:
            for passages in self.values():
                passages.close()
            self.remove_empty()
            raise

    def remove_empty(self) -> None:
        """Remove the files of the empty kinds, which are closed by now."""
        if self._elsewhere:
            self._elsewhere.cleanup()

    def _empty(self, give: GivePassages, kind: MemoryKind, *, fault: str) -> Passages:
        if self._elsewhere is None:
            self._elsewhere = TemporaryDirectory(prefix="memedex-")
        root = Path(self._elsewhere.name)
        give(root, kind=kind, writable=True).close()
        return give(root, kind=kind, writable=False, fault=fault)
