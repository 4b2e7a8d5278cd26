"""Captions as text: one line, the format of LoRA trainers; and search and replace, with a preview first."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import regex

from store.errors import InvalidRecord
from store.records import CAPTION_FACETS, MAX_FACET, Facet, Record

JOINED = "joined"
HOLDS = "text_file_holds"  # in a table next to text files: "joined", or the one facet that they contain


def joined(caption: Mapping[Facet, str], tags: Sequence[str]) -> str:
    """All facets and tags, separated by commas."""
    parts = [" ".join(text.split()).rstrip(". ") for text in caption.values()]
    return ", ".join(part for part in (*parts, *tags) if part)


# A pattern such as (a+)+$ can take ages on a few dozen letters; nobody may stop the program with one.
SECONDS_FOR_ONE = 0.25
SECONDS_FOR_ALL = 10.0
MOST_PATTERN = 1_000  # characters


@dataclass(frozen=True, slots=True)
class ReplaceRequest:
    r"""What to search for and what to replace it with; `\1` and `\g<name>` refer to groups of a pattern."""

    find: str
    put: str
    facets: tuple[Facet, ...] = CAPTION_FACETS
    is_pattern: bool = False
    ignores_case: bool = False


@dataclass(frozen=True, slots=True)
class Replacement:
    """One facet's text before and after, as of the preview."""

    address: str
    revision: int
    facet: Facet
    before: str
    after: str


def replacements(records: Iterable[Record], request: ReplaceRequest) -> list[Replacement]:
    """Every facet of these records that would change. Raises InvalidRecord for an invalid or slow pattern."""
    compiled = _compiled(request)
    until = time.monotonic() + SECONDS_FOR_ALL
    found = []
    for record in records:
        for facet, text in record.caption.items():
            if facet not in request.facets or not text:
                continue
            after = _replaced(compiled, request, text, record)
            if after != text:
                found.append(Replacement(record.address, record.revision, facet, text, after))
        if time.monotonic() > until:
            raise InvalidRecord(
                f"it took more than {SECONDS_FOR_ALL:.0f} seconds; narrow the selection or the pattern"
            )
    return found


def _compiled(request: ReplaceRequest) -> "regex.Pattern[str]":
    if not request.find:
        raise InvalidRecord("say what to find")
    if len(request.find) > MOST_PATTERN:
        raise InvalidRecord(f"what to find has more than {MOST_PATTERN:,} characters")
    flags = regex.IGNORECASE if request.ignores_case else 0
    try:
        return regex.compile(request.find if request.is_pattern else regex.escape(request.find), flags)
    except (regex.error, OverflowError, RecursionError) as error:
        raise InvalidRecord(f"the regex is not valid: {error}") from error


def _cased(request: ReplaceRequest, found: str) -> str:
    """What is put in place of a text, with its capitals if those were ignored and none were typed."""
    if not request.ignores_case or request.put != request.put.lower() or found == request.find:
        return request.put
    if found.isupper() and sum(map(str.isalpha, found)) > 1:
        return request.put.upper()
    return request.put[:1].upper() + request.put[1:] if found[0].isupper() else request.put


def _replaced(compiled: "regex.Pattern[str]", request: ReplaceRequest, text: str, record: Record) -> str:
    try:
        put = request.put if request.is_pattern else lambda found: _cased(request, str(found[0]))
        after = str(compiled.sub(put, text, timeout=SECONDS_FOR_ONE))
    except TimeoutError as error:
        raise InvalidRecord(
            f"the pattern takes too long on the caption of {record.name}; repeats within repeats, such as "
            "(a+)+, are the usual cause"
        ) from error
    except (regex.error, IndexError) as error:
        raise InvalidRecord(f"the replacement is not valid: {error}") from error
    if len(after) > MAX_FACET:
        raise InvalidRecord(f"the caption of {record.name} would have more than {MAX_FACET:,} characters")
    return after
