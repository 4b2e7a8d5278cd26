"""What was handed out for which question: one JSON object a line, in a file below the root.

    {"at": "2026-01-31T10:00:00Z", "kind": "world_lore", "scope": "peaks", "actor": "mira",
     "hits": [{"id": "peaks_forge", "score": 0.61}]}

With `texts` it also has the question, and each hit its text. What is deleted for good leaves the log too.
"""

import json
import logging
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from store.disk.files import Disk

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetrievedText:
    """One hit as it is logged."""

    id: str
    score: float
    text: str


class RetrievalLog:
    """The log of one kind; off unless the setting says what to log."""

    def __init__(self, path: Path, *, kind: str, detail: str) -> None:
        """`detail` is "" for no log, "ids", or "texts"."""
        self.path = path
        self._kind = kind
        self._detail = detail
        self._lock = FileLock(path.with_suffix(".lock"))  # agents log beside the dashboard that deletes

    def record(
        self, question: str, hits: Sequence[RetrievedText], *, scope: str, actor: str, at: float
    ) -> None:
        """Append one line, if the log is on; a full disk must not prevent an answer."""
        if not self._detail:
            return
        line: dict[str, Any] = {
            "at": f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "kind": self._kind,
            "scope": scope,
            "actor": actor,
            "hits": [{"id": hit.id, "score": round(hit.score, 4)} for hit in hits],
        }
        if self._detail == "texts":
            line["question"] = question
            for logged, hit in zip(line["hits"], hits, strict=True):
                logged["text"] = hit.text
        try:
            with self._lock, self.path.open("ab") as file:
                file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            log.warning("the retrieval log could not be written: %s", error)

    def keep_only(self, ids: Collection[str], *, scopes: Collection[str]) -> None:
        """Remove every line of this kind that names another entry or scope, and every damaged one.

        With them goes every other line with the same question, which may quote what was forgotten.
        """
        if not self.path.exists():
            return
        with self._lock:
            lines = self.path.read_bytes().splitlines(keepends=True)
            gone = {_question(line) for line in lines if not self._may_stay(line, ids, scopes)} - {""}
            self._rewrite(lambda line: self._may_stay(line, ids, scopes) and _question(line) not in gone)

    def _rewrite(self, may_stay: Callable[[bytes], bool]) -> None:
        """Keep these lines alone, and leave no byte of the others on the disk."""
        with self.path.open("r+b") as old:
            lines = old.readlines()
            kept = [line for line in lines if may_stay(line)]
            if len(kept) == len(lines):
                return
            Disk().replace(self.path, b"".join(kept))
            old.seek(0)  # what is only unlinked keeps its bytes on the disk
            old.write(bytes(sum(map(len, lines))))
            old.flush()
            os.fsync(old.fileno())

    def _may_stay(self, line: bytes, ids: Collection[str], scopes: Collection[str]) -> bool:
        try:
            logged = json.loads(line)
            is_known = logged["scope"] in scopes and all(hit["id"] in ids for hit in logged["hits"])
            return bool(logged["kind"] != self._kind or is_known)
        except (ValueError, KeyError, TypeError):
            return False


def _question(line: bytes) -> str:
    """The question of a line; "" if it has none."""
    try:
        return str(json.loads(line).get("question", ""))
    except (ValueError, AttributeError):
        return ""
