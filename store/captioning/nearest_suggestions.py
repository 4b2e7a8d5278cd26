"""Suggestions without a language model: the nearest tags, and phrases from captions of similar pictures.

Uses only the embedding model, writes nothing new, and marks every suggestion with `nearest · MODEL`; a
phrase also with the coin that it comes from.
"""

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from store.captions.suggestions import BORROWED, SuggestedFacet
from store.errors import ModelUnavailable
from store.records import Facet, Record
from store.search.query import Part, Query

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

TAGS = 6
_BY_WORD = 2  # … of which so many at least are there for their word alone
LOOK_ALIKES = 8
QUOTED = 4  # … whose captions are quoted
_PHRASE = re.compile(r"(?<=[.!?;])\s+|\s+[·|]\s+")
_LONGEST = 160  # characters of one phrase


def model_of(reader: "Reader") -> str:
    """The name that marks suggestions from here."""
    return f"{BORROWED}{reader.model}"


@dataclass(frozen=True, slots=True)
class BorrowedTexts:
    """Texts of one origin."""

    source: str  # as the model of a suggestion
    texts: Mapping[SuggestedFacet, str]


def nearest(reader: "Reader", address: str) -> list[BorrowedTexts]:
    """A phrase for each facet from each of the records with the most similar pictures, and the nearest tags.

    The nearest record comes last, as the newest suggestion is shown first. Empty if the library has nothing
    similar. Raises ModelUnavailable for a text-only model.
    """
    record = reader.get(address)
    picture = reader.picture(address).read_bytes()
    query = Query((Part(image=picture),), weights={"image": 1.0}, top=LOOK_ALIKES + 1)
    alike = [reader.get(hit.address) for hit in reader.search(query).hits if hit.address != address]
    found = [
        BorrowedTexts(f"{model_of(reader)} · {other.name}", phrases)
        for other, phrases in _phrases(alike)
        if phrases
    ][::-1]
    tags = [tag for tag in _tags(reader, alike, picture) if tag not in record.tags][:TAGS]
    return [*found, *([BorrowedTexts(model_of(reader), {"tags": ",".join(tags)})] if tags else [])]


def suggest(library: "Library", address: str, *, actor: str = "") -> int:
    """Save them as open suggestions in place of earlier ones; returns for how many facets."""
    found = nearest(library, address)
    earlier = [each.id for each in library.suggestions.of(address) if each.model.startswith(BORROWED)]
    library.suggestions.resolve(earlier, "replaced", actor=actor)
    for borrowed in found:
        library.suggestions.save(address, borrowed.texts, model=borrowed.source, actor=actor)
    return len({facet for borrowed in found for facet in borrowed.texts})


def _phrases(alike: Sequence[Record]) -> Iterator[tuple[Record, dict[SuggestedFacet, str]]]:
    """The first phrase of each facet of the nearest records, each once: what two say, the nearer one says."""
    known: set[tuple[Facet, str]] = set()
    for record in alike[:QUOTED]:
        phrases: dict[SuggestedFacet, str] = {}
        for facet, text in record.caption.items():
            phrase = _PHRASE.split(text.strip())[0][:_LONGEST].strip()
            if phrase and (facet, phrase) not in known:
                known.add((facet, phrase))
                phrases[facet] = phrase
        yield record, phrases


def _tags(reader: "Reader", alike: Sequence[Record], picture: bytes) -> list[str]:
    """Known tags: those that several similar records have, then by closeness of the word to the picture."""
    from PIL import Image

    known = reader.taxonomy.tags
    if not known:
        return []
    embedder = reader.embedder
    try:
        seen = embedder.embed_images([Image.open(io.BytesIO(picture))])[0]
    except ModelUnavailable:
        return []
    near = embedder.embed_texts([f"a picture of {tag}" for tag in known]) @ seen
    order = [known[place] for place in np.argsort(-near, kind="stable")]
    carried = Counter(tag for record in alike for tag in record.tags if reader.taxonomy.knows(tag))
    shared = [tag for tag, count in carried.most_common() if count > 1]
    return list(dict.fromkeys([*shared[: TAGS - _BY_WORD], *order[: TAGS + _BY_WORD]]))
