"""The library of memecoins and everything about it that is not a web page (docs/python.md).

from pathlib import Path

from store import Part, Query, open_library

with open_library(Path("res")) as library:
    results = library.search(Query((Part(text="sad frog"),)))
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Read when NumPy is loaded: its threads otherwise keep a core busy for 2^26 cycles after each product.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

if TYPE_CHECKING:
    from store.adopting.system import DataSurvey
    from store.catalog.filters import FacetLength, Filter
    from store.catalog.history import Event, PastDecision
    from store.catalog.named_values import DeletedItem
    from store.disk.layout import RESOURCES, Layout
    from store.disk.lock import close_all
    from store.disk.sqlite import is_replica
    from store.duplicates.findings import DuplicateFinding, Suspect, Suspicion
    from store.errors import MemedexError
    from store.exporting.formats import export
    from store.importing import candidates
    from store.jobs import Item, Job, Jobs
    from store.library import Library
    from store.lru import LruCache
    from store.memory.memory import Memory
    from store.memory.reference_names import (
        MemoryVerbs,
        RagManager,
        add_lore,
        add_memory,
        delete_session_memory,
        query_lore,
        query_memory,
        search_memory,
        store_memory,
    )
    from store.operations import CaptionSource
    from store.outcome import ImportReport, Outcome, Refusal, by_reason
    from store.permissions import OPERATOR, Actor, current_user, may_view
    from store.progress import Progress
    from store.reading.reader import Reader, Status
    from store.records import Record
    from store.runtime import LibraryRuntime, check_replica, has_unfinished_jobs, open_library, open_reader
    from store.search.query import Part, Query, QueryShift, SavedSearch
    from store.search.ranking import Hit
    from store.search.search import Results
    from store.tags.taxonomy import Taxonomy
    from store.writing.salvage import salvage_if_damaged
    from store.writing.transitions import Move

__version__ = "1.9.0"

# Where each name comes from. Imported when first asked for: a process that needs one part loads no other.
_FROM = {
    name: f"store.{module}"
    for module, names in {
        "adopting.system": "DataSurvey",
        "catalog.named_values": "DeletedItem",
        "catalog.filters": "FacetLength Filter",
        "catalog.history": "Event PastDecision",
        "disk.layout": "Layout RESOURCES",
        "disk.lock": "close_all",
        "disk.sqlite": "is_replica",
        "duplicates.findings": "DuplicateFinding Suspect Suspicion",
        "errors": "MemedexError",
        "exporting.formats": "export",
        "importing": "candidates",
        "jobs": "Item Job Jobs",
        "library": "Library",
        "lru": "LruCache",
        "memory.memory": "Memory",
        "memory.reference_names": (
            "MemoryVerbs RagManager add_lore add_memory delete_session_memory query_lore query_memory "
            "search_memory store_memory"
        ),
        "operations": "CaptionSource",
        "outcome": "ImportReport Outcome Refusal by_reason",
        "permissions": "Actor OPERATOR may_view current_user",
        "progress": "Progress",
        "reading.reader": "Reader Status",
        "records": "Record",
        "runtime": "LibraryRuntime check_replica has_unfinished_jobs open_library open_reader",
        "search.query": "Part Query QueryShift SavedSearch",
        "search.ranking": "Hit",
        "search.search": "Results",
        "tags.taxonomy": "Taxonomy",
        "writing.salvage": "salvage_if_damaged",
        "writing.transitions": "Move",
    }.items()
    for name in names.split()
}

__all__ = [
    "OPERATOR",
    "RESOURCES",
    "Actor",
    "CaptionSource",
    "DataSurvey",
    "DeletedItem",
    "DuplicateFinding",
    "Event",
    "FacetLength",
    "Filter",
    "Hit",
    "ImportReport",
    "Item",
    "Job",
    "Jobs",
    "Layout",
    "Library",
    "LibraryRuntime",
    "LruCache",
    "MemedexError",
    "Memory",
    "MemoryVerbs",
    "Move",
    "Outcome",
    "Part",
    "PastDecision",
    "Progress",
    "Query",
    "QueryShift",
    "RagManager",
    "Reader",
    "Record",
    "Refusal",
    "Results",
    "SavedSearch",
    "Status",
    "Suspect",
    "Suspicion",
    "Taxonomy",
    "add_lore",
    "add_memory",
    "by_reason",
    "candidates",
    "check_replica",
    "close_all",
    "current_user",
    "delete_session_memory",
    "demo",
    "export",
    "has_unfinished_jobs",
    "is_replica",
    "may_view",
    "open_library",
    "open_reader",
    "query_lore",
    "query_memory",
    "salvage_if_damaged",
    "search_memory",
    "store_memory",
]


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FROM[name]), name)
