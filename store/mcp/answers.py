"""What the tools answer, as types: each tool's output schema follows from them."""

from typing import (
    Any,
    NotRequired,
    Required,  # Pydantic needs it before Python 3.12
)

from pydantic import ConfigDict
from typing_extensions import TypedDict


class _Open(TypedDict):
    """Other fields than those named are passed on."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]


class Note(TypedDict, total=False):
    """A sentence about the answer as a whole."""

    note: str  # such as that the model does not read the question's language


class FoundEntries(Note):
    """Entries of one kind that fit a question, best first."""

    entries: Required[list[dict[str, Any]]]  # with score, meaning and words; near misses come last


class FoundTexts(Note):
    """Texts that fit a question, best first."""

    documents: list[str]
    context_warning: bool
    scores: list[dict[str, Any]]


class EntryAnswer(_Open):
    """An entry of any kind; its text and scope are under the kind's own names."""

    id: str
    pending: NotRequired[bool]  # the change waits until a person has reviewed it


class Page(TypedDict):
    """A page of a list."""

    total: int
    entries: list[EntryAnswer]


class Done(TypedDict):
    """What was changed, and what was refused with its reason."""

    done: list[str]
    refused: list[dict[str, str]]  # item and reason
    pending: NotRequired[bool]  # what is done waits until a person has reviewed it


class Decided(TypedDict):
    """What a decision about coins did; those that were so already are unchanged."""

    done: list[str]
    unchanged: list[str]
    refused: list[dict[str, str]]  # item and reason
    decision: str | None  # its id in the history; None if nothing was done


class ExportAnswer(TypedDict):
    """Entries as exported."""

    kind: str
    total: int
    jsonl: str  # one entry a line
    next_offset: int | None


class CitedEntry(TypedDict):
    """An entry with the number by which an answer cites it."""

    number: int
    kind: str
    id: str
    text: str
    score: float


class OmissionAnswer(TypedDict):
    """Entries of a kind that a context does not have."""

    kind: str
    count: int  # 0 for a kind that is left out as a whole
    reason: str


class Context(TypedDict):
    """A context for a model, with what is in it."""

    text: str
    characters: int
    tokens: int
    context_warning: bool
    entries: list[CitedEntry]
    left_out: list[OmissionAnswer]


class ModelAnswer(TypedDict):
    """A model's answer, with the entries it cites."""

    text: str
    citations: list[CitedEntry]
    unknown: list[int]
    model: str
    left_out: list[OmissionAnswer]


class NamesAnswer(TypedDict):
    """Names with their numbers of entries."""

    names: dict[str, int]  # with the number of entries


class Coin(_Open):
    """A coin of the library."""

    token_address: str
    token_name: str
    ticker: str
    tier: str
    tags: list[str]
