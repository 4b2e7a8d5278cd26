"""Split lore at its lines."""

LONGEST = 800  # characters


def split_lines(text: str, *, longest: int = LONGEST) -> list[tuple[int, int]]:
    """The chunks of a text as offsets: `text[start:end]`, whole lines, at most `longest` characters each.

    A chunk ends before the line that would make it too long, excludes white space at its edges, and is never
    empty. A single line longer than that is cut: after the last space that leaves the piece within the limit,
    or in the middle of a longer word. Its last piece continues with the lines that follow.
    """
    found: list[tuple[int, int]] = []
    start = end = 0  # of the chunk being filled
    for line_start, line_end in _pieces(text, longest):
        if line_end - start > longest and line_start > start:
            found.append((start, end))
            start = line_start
        end = line_end
    found.append((start, end))
    return [trimmed for span in found if (trimmed := _trimmed(text, *span))]


def _pieces(text: str, longest: int) -> list[tuple[int, int]]:
    """Every line without its line end, those that are too long in several pieces."""
    pieces = []
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        while end - start > longest:
            space = max(text.rfind(sign, start, start + longest) for sign in (" ", "\t"))
            cut = space + 1 if space > start else start + longest
            pieces.append((start, cut))
            start = cut
        pieces.append((start, end))
        start = end + 1
    return pieces


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return (start + left, start + right) if right > left else None
