"""The library of memecoins and everything about it that is not a web page (docs/python.md).

from pathlib import Path

from store import Part, Query, open_library

with open_library(Path("res")) as library:
    results = library.search(Query((Part(text="sad frog"),)))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from store.catalog.filters import Filter
    from store.errors import MemedexError
    from store.exporting.formats import export
    from store.importing import candidates
    from store.library import Library
    from store.memory.memory import Memory
    from store.memory.reference_names import (
        RagManager,
        add_lore,
        add_memory,
        delete_session_memory,
        query_lore,
        query_memory,
        search_memory,
        store_memory,
    )
    from store.memory.verbs.verbs import MemoryVerbs
    from store.outcome import ImportReport, Outcome, Refusal
    from store.progress import Progress
    from store.reading.reader import Reader
    from store.records import Record
    from store.runtime import open_library, open_reader
    from store.search.query import Part, Query

__version__ = "1.3.0"

# Where each name comes from. Imported when first asked for: a process that needs one part loads no other.
_FROM = {
    "Filter": "store.catalog.filters",
    "ImportReport": "store.outcome",
    "Library": "store.library",
    "MemedexError": "store.errors",
    "Memory": "store.memory.memory",
    "MemoryVerbs": "store.memory.verbs.verbs",
    "Outcome": "store.outcome",
    "Part": "store.search.query",
    "Progress": "store.progress",
    "Query": "store.search.query",
    "RagManager": "store.memory.reference_names",
    "Reader": "store.reading.reader",
    "Record": "store.records",
    "Refusal": "store.outcome",
    "add_lore": "store.memory.reference_names",
    "add_memory": "store.memory.reference_names",
    "candidates": "store.importing",
    "delete_session_memory": "store.memory.reference_names",
    "export": "store.exporting.formats",
    "open_library": "store.runtime",
    "open_reader": "store.runtime",
    "query_lore": "store.memory.reference_names",
    "query_memory": "store.memory.reference_names",
    "search_memory": "store.memory.reference_names",
    "store_memory": "store.memory.reference_names",
}

__all__ = [
    "Filter",
    "ImportReport",
    "Library",
    "MemedexError",
    "Memory",
    "MemoryVerbs",
    "Outcome",
    "Part",
    "Progress",
    "Query",
    "RagManager",
    "Reader",
    "Record",
    "Refusal",
    "add_lore",
    "add_memory",
    "candidates",
    "delete_session_memory",
    "export",
    "open_library",
    "open_reader",
    "query_lore",
    "query_memory",
    "search_memory",
    "store_memory",
]


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FROM[name]), name)
