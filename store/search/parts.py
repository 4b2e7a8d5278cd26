"""What of a question can be searched with, and what answers one that nothing is compared with."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.errors import MemedexError
from store.records import Record
from store.search.query import Part
from store.search.question import Question, Term

if TYPE_CHECKING:
    from store.reading import Reader

Pictures = Callable[[str], bytes | None]


def picture(reader: "Reader", said: str) -> bytes | None:
    """The picture that a question means: one that was shown, or that of a coin; None where there is none."""
    content = reader.samples.get(said)
    if content is None:
        try:
            content = reader.picture(said).read_bytes()
        except (MemedexError, OSError):
            return None
    return content


def parts_of(
    reader: "Reader", question: Question, *, pictures: Pictures
) -> tuple[tuple[Part, ...], list[str]]:
    """The parts, their pictures and examples found by their names; what is wrong with the rest.

    `pictures` finds a picture, "" being the one that has no name.
    """
    parts: list[Part] = []
    faults: list[str] = []
    for term in question.terms:
        made = _part(reader, term, pictures)
        if isinstance(made, str):
            faults.append(made)
        else:
            parts.append(made)
    if parts and not any(part.weight for part in parts):
        return (), [*faults, "every part of the question weighs nothing"]
    return tuple(parts), faults


def words_of(question: Question) -> str:
    """What a question says in plain words, which are looked for where nothing can be compared."""
    return " ".join(term.said for term in question.terms if term.source == "text" and term.weight > 0)


def listed(reader: "Reader", question: Question, *, limit: int) -> list[Record]:
    """The coins that pass, best by the question's words, or the newest first where it says none."""
    if words := words_of(question):
        return reader.named(words, question.filter, limit=limit)
    return reader.find(question.filter, limit=limit)


def _part(reader: "Reader", term: Term, pictures: Pictures) -> Part | str:
    try:
        if term.source == "text":
            return Part(text=term.said, weight=term.weight, facets=term.facets)
        if term.source == "like":
            record = reader.get(reader.spelling_of(term.said) or term.said)
            if record.tier != "library":
                return f"{record.name} is not in the library, so nothing can be compared with it"
            return Part(like=record.address, weight=term.weight, facets=term.facets)
        content = pictures(term.said)
        if content is None:
            return f"no picture {term.said} is kept here" if term.said else "drop, paste or choose a picture"
        return Part(image=content, weight=term.weight, facets=term.facets)
    except MemedexError as error:
        return f"the example is not there: {error}" if term.source == "like" else str(error)
