"""Tokens of `cl100k_base`, counted with the copy in litellm's package, and long texts split by them."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.embedding.protocol import REST, Lazy, package_folder
from store.memory.text.extraction import ContentType

if TYPE_CHECKING:
    from tiktoken import Encoding

NAME = "cl100k_base"
_EXACT = 200  # characters: shorter texts are counted, longer ones estimated
_BYTES = 4  # of a token, about: prose and code have 4 to 5, Chinese and logs 2 to 3


def count_tokens(text: str) -> int:
    """How many tokens the text has; special tokens in it count as text."""
    return len(_encoding.get().encode(text, disallowed_special=()))


def estimated_tokens(text: str) -> int:
    """About how many tokens the text has, by its size in UTF-8; exactly, if it has at most 200 characters."""
    return count_tokens(text) if len(text) <= _EXACT else _most(text) // _BYTES


def has_at_most(text: str, tokens: int) -> bool:
    """Whether the text surely has no more tokens than this, without counting them."""
    return _most(text) <= tokens


def _most(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))  # each token has a byte at least


def tail_of(text: str, *, tokens: int) -> int:
    """How many characters at the end of the text make up about this many tokens."""
    encoding = _encoding.get()
    return len(encoding.decode(encoding.encode(text, disallowed_special=())[-tokens:]).lstrip("\ufffd"))


def _load() -> "Encoding":
    from tiktoken import get_encoding, registry

    # tiktoken fetches what it does not find in its cache; litellm's copy is one, hash and all.
    folder = package_folder("litellm", install="pip install litellm") / "litellm_core_utils" / "tokenizers"
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return get_encoding(NAME)
    finally:
        registry.ENCODINGS.pop(NAME, None)  # it would keep 40 MB
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


_encoding: "Lazy[Encoding]" = Lazy("the token counter", _load, rest=REST)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes in tokens; the defaults are those of transcript databases."""

    limit: int = 8192  # a text within it is one chunk, and no chunk is longer
    target: int = 1024  # of a chunk of a longer text
    overlap: int = 128  # about
    least_overlap: int = 64

    @property
    def unit(self) -> int:
        """The longest unit, so that a chunk with its overlap stays near the target."""
        return self.target - self.overlap

    @property
    def whole(self) -> int:
        """The longest code block that stays whole, with its overlap."""
        return self.limit - 2 * self.overlap


SIZES = Sizes()
_TAIL = 4_000  # characters in which the overlap is looked for

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SENTENCE = re.compile(r"[.!?…。！？]+[\"'”’)\]]*\s+|\n+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text[start:end]` and its number of tokens, estimated for a text that is one chunk in any case."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part that is not split if possible; units are adjacent and cover the text."""

    start: int
    end: int
    tokens: int


def chunk_text(text: str, content_type: ContentType, *, sizes: Sizes = SIZES) -> list[Chunk]:
    """One chunk for a text of at most 8,192 tokens, also an empty one; else about 1,024 each, 128 of overlap.

    Assistants' text is cut between Markdown blocks, and code blocks stay whole even if that makes a chunk
    longer, as long as the model can read it; tool output is cut between lines, users' text between sentences.
    """
    if has_at_most(text, sizes.limit):  # counting would take half as long again as all the rest of an import
        return [Chunk(0, len(text), estimated_tokens(text))]
    if (tokens := count_tokens(text)) <= sizes.limit:
        return [Chunk(0, len(text), tokens)]
    units = list(_units(text, content_type, sizes))
    return [Chunk(start, end, count_tokens(text[start:end])) for start, end in _packed(text, units, sizes)]


def _packed(text: str, units: Sequence[_Unit], sizes: Sizes) -> Iterator[tuple[int, int]]:
    start, tokens, first = 0, 0, 0
    while first < len(units):
        last = first
        while last < len(units) and (last == first or _fits(tokens, units[last], sizes)):
            tokens += units[last].tokens
            last += 1
        end = units[last - 1].end
        yield start, end
        first = last
        if first < len(units):
            before = (units[number] for number in range(last - 1, -1, -1))  # a slice would copy them all
            start = _overlap_start(text, start, end, before, sizes)
            tokens = count_tokens(text[start:end])


def _fits(tokens: int, unit: _Unit, sizes: Sizes) -> bool:
    # A long code block goes with what is too little to overlap with.
    return tokens + unit.tokens <= (sizes.limit if tokens < sizes.overlap else sizes.target)


def _overlap_start(text: str, start: int, end: int, before: Iterable[_Unit], sizes: Sizes) -> int:
    """Where the next chunk begins: at a unit of `before`, else a word, 64 to about 128 tokens back."""
    tokens, best = 0, -1
    for unit in before:
        tokens += unit.tokens
        if tokens > sizes.overlap or unit.start <= start:
            break
        if (
            tokens >= sizes.least_overlap + sizes.least_overlap // 8
        ):  # counted apart, units have a few tokens more than together
            best = unit.start
    if best >= 0 and count_tokens(text[best:end]) >= sizes.least_overlap:
        return best
    earliest = max(start + 1, end - _TAIL)
    place = max(earliest, end - tail_of(text[earliest:end], tokens=sizes.overlap))
    word = re.compile(r"\s\S").search(text, max(place - 1, 0), end)
    if word and count_tokens(text[word.start() + 1 : end]) >= sizes.least_overlap:
        return max(word.start() + 1, earliest)
    while place > start + 1 and count_tokens(text[place:end]) < sizes.least_overlap:
        place = max(start + 1, place - 32)
    return place


def _units(text: str, content_type: ContentType, sizes: Sizes) -> Iterator[_Unit]:
    spans: Iterator[tuple[int, int, bool]]
    if content_type in ("tool_output", "tool_call"):
        spans = ((start, end, False) for start, end in _lines(text, 0, len(text)))
    elif content_type == "user_query":
        spans = ((start, end, False) for start, end in _sentences(text, 0, len(text)))
    else:
        spans = _markdown_blocks(text)
    for start, end, is_code in spans:
        tokens = count_tokens(text[start:end])
        if tokens <= (sizes.whole if is_code else sizes.unit):
            yield _Unit(start, end, tokens)
        else:
            yield from _finer(text, start, end, sizes)


def _finer(text: str, start: int, end: int, sizes: Sizes) -> Iterator[_Unit]:
    """Split a unit that is too long: into lines, sentences, words, and at last pieces of any kind."""
    for cut in (_lines, _sentences, _words):
        parts = list(cut(text, start, end))
        if len(parts) > 1:
            for part in parts:
                tokens = count_tokens(text[slice(*part)])
                if tokens <= sizes.unit:
                    yield _Unit(*part, tokens)
                else:
                    yield from _finer(text, *part, sizes)
            return
    size = end - start
    while count_tokens(text[start : start + size]) > sizes.unit:
        size = size // 2
    for place in range(start, end, size):
        stop = min(place + size, end)
        tokens = count_tokens(text[place:stop])
        if tokens <= sizes.unit:
            yield _Unit(place, stop, tokens)
        else:
            yield from _finer(text, place, stop, sizes)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while (found := text.find("\n", start, end)) >= 0:
        yield start, found + 1
        start = found + 1
    if start < end:
        yield start, end


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE.finditer(text, start, end):
        yield start, match.end()
        start = match.end()
    if start < end:
        yield start, end


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Groups of about fifty words, because at this level no place to cut is better."""
    words = 0
    for match in re.compile(r"\s+").finditer(text, start, end):
        words += 1
        if (words >= 50 or match.end() - start > 200) and match.end() < end:
            yield start, match.end()
            start, words = match.end(), 0
    if start < end:
        yield start, end


def _markdown_blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Fenced code blocks; paragraphs with the empty lines after them; a heading begins a block."""
    start, fence = 0, ""
    blank = False
    for line_start, line_end in _lines(text, 0, len(text)):
        line = text[line_start:line_end]
        opening = _FENCE.match(line)
        if fence:
            closing = line.strip()
            if closing and set(closing) == {fence[0]} and len(closing) >= len(fence):
                yield start, line_end, True
                start, fence = line_end, ""
        elif opening:
            if line_start > start:
                yield start, line_start, False
            start, fence = line_start, opening.group(1)
        elif line_start > start and ((blank and line.strip()) or line.startswith("#")):
            yield start, line_start, False
            start = line_start
        blank = not line.strip()
    if start < len(text):
        yield start, len(text), bool(fence)
