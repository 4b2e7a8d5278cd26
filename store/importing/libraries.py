"""Libraries of three tiers among the files of an import: their tiers, and what their Chroma says of coins."""

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from store.chroma.collections import COLLECTIONS
from store.chroma.contents import DATABASE, read_contents, read_entries
from store.disk.aside import PREFIX
from store.errors import InvalidRecord
from store.importing.candidate import Candidate
from store.importing.metadata import FILLED_IN, date_of, sidecar_of, tags
from store.importing.names import NAMES
from store.importing.trees import Tree, folders_above, stem
from store.records import MAX_NAME, REQUIRED_FACETS, Tier, checked_address

_LIBRARY = re.compile(r"(?:^|/)rag_db/(?:metadata/|chroma\.sqlite3$)")
_FILLED = ("token_name", "ticker", "description", "created_at")
_WAITING = re.compile(r"(?:^|/)(?:pending|approved)/[^/]+\.json$")


def tops(names: Iterable[str]) -> set[str]:
    """The folders that hold a library: `rag_db` with its content, or both `pending` and `approved`."""
    names = list(names)
    found = {match.string[: match.start()] for match in filter(None, map(_LIBRARY.search, names))}
    waiting: dict[str, set[str]] = {}
    for match in filter(None, map(_WAITING.search, names)):
        waiting.setdefault(match.string[: match.start()], set()).add(match[0].strip("/").partition("/")[0])
    return found | {top for top, tiers in waiting.items() if len(tiers) > 1}


class LibraryFolders:
    """The libraries of one tree."""

    def __init__(self, tree: Tree, names: Iterable[str]) -> None:
        self.tops = tops(names) if tree.is_whole else set[str]()
        self._tree = tree
        self._tags: dict[str, Mapping[str, Mapping[str, Any]]] = {}  # of each library, by address

    def completed(self, raw: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The sidecar of a file; in a library, name and Chroma fill in what is missing, which is marked."""
        sidecar = sidecar_of(raw)
        top = self._top(name)
        if top is None:
            return sidecar
        if "token_address" not in sidecar:
            try:
                sidecar["token_address"] = checked_address(stem(name))
            except InvalidRecord:
                return sidecar  # a file of another kind, which gets its address from its picture
        fields = self._of(top).get(sidecar["token_address"], {})
        for key in ("tags", "tags_categories"):
            if not sidecar.get(key) and (found := tags(str(fields.get(key) or ""))):
                sidecar[key] = found
        missing = [key for key in _FILLED if all(raw.get(own) is None for own in NAMES.get(key, ()))]
        if "created_at" in sidecar:
            missing.remove("created_at")
        if missing:
            others = dict(fields)
            given = {"token_name": fields.get("name"), **date_of(others), **others}
            for key in ("token_name", "ticker", "created_at"):
                if key in missing and given.get(key) not in (None, ""):
                    sidecar[key] = given[key]
            sidecar[FILLED_IN] = missing
        if not sidecar.get("token_name"):
            sidecar["token_name"] = (sidecar.get("ticker") or stem(name))[:MAX_NAME]
        return sidecar

    def holds(self, name: str) -> bool:
        """Whether the file lies in a library."""
        return self._top(name) is not None

    def placed(self, coin: Candidate, name: str) -> Candidate:
        """The coin in the tier of its folder; without a caption that serves the library it is approved."""
        top = self._top(name)
        if top is None:
            return coin
        tier = _tier(name[len(top) :].lstrip("/"))
        caption = coin.sidecar.get("caption")
        written = caption if isinstance(caption, dict) else {}
        if tier == "library" and not all(str(written.get(facet) or "").strip() for facet in REQUIRED_FACETS):
            tier = "approved"
        return replace(coin, tier=tier)

    def _top(self, name: str) -> str | None:
        return next((folder for folder in folders_above(name) if folder in self.tops), None)

    def _of(self, top: str) -> Mapping[str, Mapping[str, Any]]:
        if top not in self._tags:
            folder = self._tree.on_disk(f"{top}/rag_db" if top else "rag_db")
            self._tags[top] = chroma_fields(folder) if folder else {}
        return self._tags[top]


def chroma_folders(rag_db: Path) -> list[Path]:
    """The folders with a Chroma of this library: its own, and those that were moved aside from there."""
    aside = sorted(rag_db.glob(f"{PREFIX}*")) if rag_db.is_dir() else []
    return [folder for folder in (rag_db, *aside) if (folder / DATABASE).is_file()]


def chroma_fields(rag_db: Path) -> dict[str, dict[str, Any]]:
    """The metadata of each address in the five collections, empty if Chroma cannot be read."""
    found: dict[str, dict[str, Any]] = {}
    for folder in chroma_folders(rag_db):
        for collection in read_contents(folder).collections:
            if collection.name not in COLLECTIONS.values():
                continue
            try:
                for id, _, fields in read_entries(folder, collection):
                    address = _checked(id)
                    found[address] = {**fields, **{k: v for k, v in found.get(address, {}).items() if v}}
            except (OSError, sqlite3.Error):
                continue
    return found


def _checked(id: str) -> str:
    try:
        return checked_address(id)
    except InvalidRecord:
        return id


def _tier(name: str) -> Tier:
    first = name.partition("/")[0]
    if first == "rag_db":
        return "library"
    return "approved" if first == "approved" else "pending"
