"""Bind a query's names to pictures and examples, and answer queries that cannot be compared."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from store.catalog.words import in_words
from store.errors import MemedexError
from store.records import Record
from store.search.query import Part
from store.search.query_syntax import Question, Term

if TYPE_CHECKING:
    from store.reading.reader import Reader

Pictures = Callable[[str], bytes | None]


def picture(reader: "Reader", name: str) -> bytes | None:
    """The picture that a query names: an uploaded one, or that of a coin; None if there is none."""
    content = reader.samples.get(name)
    if content is None:
        try:
            content = reader.picture(name).read_bytes()
        except (MemedexError, OSError):
            return None
    return content


def parts_of(
    reader: "Reader", question: Question, *, pictures: Pictures
) -> tuple[tuple[Part, ...], list[str]]:
    """The parts, with `pictures` ("" has no name) and examples by name, and what is wrong with the rest."""
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
    """The query's plain words, which are looked up if nothing can be compared."""
    return " ".join(term.text for term in question.terms if term.source == "text" and term.weight > 0)


def exact_matches(reader: "Reader", question: Question, line: str, *, limit: int) -> list[Record]:
    """Coins whose address, ticker or name the line is, else the ticker next to a word like "coin"."""
    texts = [term.text for term in question.terms if term.source == "text" and term.weight > 0]
    whole = line.encode(errors="ignore").decode().strip()  # a database holds no unpaired surrogates
    names = [*filter(None, [whole, *texts] if len(texts) == len(question.terms) <= 1 else texts)]
    if found := reader.exact_matches(names, question.filter, limit=limit):
        return found
    tickers = {_ticker(_KIND.sub("", name)) for name in names if _KIND.search(name)} - {""}
    found = reader.exact_matches(sorted(tickers), question.filter, limit=limit)
    return [record for record in found if _ticker(record.ticker) in tickers]


_KIND = re.compile(r"^(?:coin|token|ticker|symbol)\s+|\s+(?:meme)?(?:coin|token)s?$", re.IGNORECASE)


def _ticker(text: str) -> str:
    return text.strip().removeprefix("$").casefold()


def did_you_mean(reader: "Reader", question: Question, line: str) -> str | None:
    """The line with misspelt words corrected; None if all are known, or none has a near word."""
    meant = line
    for wrong, right in reader.corrections(words_of(question)).items():
        meant = re.sub(rf"\b{re.escape(wrong)}\b", right, meant, flags=re.IGNORECASE)
    return meant if meant != line else None


def records_listed(reader: "Reader", question: Question, *, limit: int) -> list[Record]:
    """Coins that match, best by the query's words, or the newest first without words."""
    if words := words_of(question):
        return reader.named(words, question.filter, limit=limit)
    return reader.find(question.filter, limit=limit)


def _part(reader: "Reader", term: Term, pictures: Pictures) -> Part | str:
    try:
        if term.source == "text":
            return Part(text=in_words(term.text), weight=term.weight, facets=term.facets)
        if term.source == "like":
            record = reader.get(reader.spelling_of(term.text) or term.text)
            if record.tier != "library":
                return f"{record.name} is not in the library, so nothing can be compared with it"
            return Part(like=record.address, weight=term.weight, facets=term.facets)
        content = pictures(term.text)
        if content is None:
            return f"no picture {term.text} is kept here" if term.text else "drop, paste or choose a picture"
        return Part(image=content, weight=term.weight, facets=term.facets)
    except MemedexError as error:
        return f"the example is not there: {error}" if term.source == "like" else str(error)
