"""Recursive splitting of papers: paragraphs if they fit, else lines, words, characters."""

from collections.abc import Iterator, Sequence

LONGEST = 1000  # characters
OVERLAP = 100
SEPARATORS = ("\n\n", "\n", " ", "")

Span = tuple[int, int]


def split_recursively(text: str, *, longest: int = LONGEST, overlap: int = OVERLAP) -> list[Span]:
    """The chunks of a text as offsets: `text[start:end]`, at most `longest` characters each.

    A text is cut at its coarsest separators into pieces, which are joined again as long as they fit; a piece
    that is too long is cut at the next finer ones. A chunk begins with as many whole pieces from the end of
    the one before as have at most `overlap` characters. White space at its edges is excluded, and a chunk is
    never empty.
    """
    found: list[Span] = []
    for span in _split(text, (0, len(text)), SEPARATORS, longest, overlap):
        trimmed = _trimmed(text, span)
        if trimmed and (not found or trimmed[1] > found[-1][1]):  # else: white space after the overlap
            found.append(trimmed)
    return found


def _split(text: str, whole: Span, separators: Sequence[str], longest: int, overlap: int) -> Iterator[Span]:
    if whole[1] - whole[0] <= longest:
        yield whole
        return
    rest = list(separators)
    while rest[0] and text.find(rest[0], *whole) < 0:
        rest.pop(0)
    if not rest[0]:
        yield from _by_characters(whole, longest, overlap)
        return
    fitting: list[Span] = []
    for piece in _pieces(text, whole, rest[0]):
        if piece[1] - piece[0] <= longest:
            fitting.append(piece)
        else:
            yield from _put_together(fitting, longest, overlap)
            fitting = []
            yield from _split(text, piece, rest[1:], longest, overlap)
    yield from _put_together(fitting, longest, overlap)


def _pieces(text: str, whole: Span, separator: str) -> Iterator[Span]:
    """Cut after each separator, which stays at the end of its piece."""
    start, end = whole
    while (found := text.find(separator, start, end)) >= 0:
        yield start, found + len(separator)
        start = found + len(separator)
    if start < end:
        yield start, end


def _put_together(pieces: Sequence[Span], longest: int, overlap: int) -> Iterator[Span]:
    first = 0
    for number, (_, end) in enumerate(pieces):
        if end - pieces[first][0] > longest:
            before = pieces[number - 1][1]
            yield pieces[first][0], before
            while first < number and (
                before - pieces[first][0] > overlap or end - pieces[first][0] > longest
            ):
                first += 1
    if pieces:
        yield pieces[first][0], pieces[-1][1]


def _by_characters(whole: Span, longest: int, overlap: int) -> Iterator[Span]:
    start, end = whole
    while end - start > longest:
        yield start, start + longest
        start += max(1, longest - overlap)
    yield start, end


def _trimmed(text: str, span: Span) -> Span | None:
    part = text[span[0] : span[1]]
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return (span[0] + left, span[0] + right) if right > left else None
