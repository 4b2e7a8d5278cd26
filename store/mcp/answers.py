"""What the tools answer, as types: each tool's output schema follows from them."""

from typing import (
    Any,
    Required,  # Pydantic needs it before Python 3.12
)

from pydantic import ConfigDict
from typing_extensions import TypedDict


class _Open(TypedDict):
    """Fields beside those that are named are passed on."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]


class Stored(TypedDict):
    memory_id: str
    success: bool
    timestamp: str
    embedding_dimensions: int


class FoundMemory(_Open):
    memory_id: str
    content: str
    timestamp: str
    relevance_score: float  # percent
    tags: list[str]


class FoundMemories(_Open):
    results: list[FoundMemory]
    total_results: int
    query_embedding_generated: bool


class Note(TypedDict, total=False):
    note: str  # such as that the model does not read the question's language


class FoundEntries(Note):
    entries: Required[list[dict[str, Any]]]  # with score, meaning and words; near misses come last


class FoundTexts(Note):
    documents: list[str]
    context_warning: bool
    scores: list[dict[str, Any]]


class EntryAnswer(_Open):
    """An entry of any kind; its text and scope stand under the kind's own names."""

    id: str


class Page(TypedDict):
    total: int
    entries: list[EntryAnswer]


class Done(TypedDict):
    done: list[str]
    refused: list[dict[str, str]]  # item and reason


class ExportAnswer(TypedDict):
    kind: str
    total: int
    jsonl: str  # one entry a line
    next_offset: int | None


class CitedEntry(TypedDict):
    number: int
    kind: str
    id: str
    text: str
    score: float


class Context(TypedDict):
    text: str
    characters: int
    tokens: int
    context_warning: bool
    entries: list[CitedEntry]


class ModelAnswer(TypedDict):
    text: str
    citations: list[CitedEntry]
    unknown: list[int]
    model: str


class NamesAnswer(TypedDict):
    names: dict[str, int]  # with the number of entries


class Coin(_Open):
    token_address: str
    token_name: str
    ticker: str
    tier: str
    tags: list[str]
