"""Suggestions: accepted as captions of empty facets, and made without a language model.

What a person wrote is never replaced (`accept_suggestions`). The nearest tags, and phrases from captions of
similar pictures (`suggest_nearest`), use only the embedding model and write nothing new. Each such suggestion
is marked with `nearest · MODEL`; a phrase also with the coin that it comes from.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from store.captions.suggestions import BORROWED, SuggestedFacet
from store.errors import ModelUnavailable, UnknownRecord
from store.operations import CaptionSource
from store.outcome import Outcome, Refusal
from store.progress import Progress
from store.records import CAPTION_FACETS, Facet, Record
from store.search.query import Part, Query

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader


def accept_suggestions(
    library: "Library", addresses: Iterable[str], *, progress: Progress | None = None, actor: str = ""
) -> Outcome:
    """Fill empty facets with the newest suggestions, and add known tags; the others stay open."""
    outcome = Outcome()
    for address in addresses:
        if progress and progress.cancelled:
            break
        try:
            _accept_one(library, address, outcome, actor=actor)
        except UnknownRecord as error:
            outcome.refused.append(Refusal(address, str(error)))
        if progress:
            progress.done += 1
    return outcome


def _accept_one(library: "Library", address: str, outcome: Outcome, *, actor: str) -> None:
    record = library.get(address)
    if typing := library.drafts.of(address):
        reason = f"{typing[0].actor} is typing a caption for it; save or discard that first"
        outcome.refused.append(Refusal(address, reason))
        return
    found = {one.facet: one for one in reversed(library.suggestions.of(address))}
    texts: dict[Facet, str | None] = {}
    sources: dict[Facet, CaptionSource] = {}
    taken = []
    for facet in CAPTION_FACETS:
        one = found.get(facet)
        if one and facet not in record.caption:
            texts[facet], sources[facet] = one.text, CaptionSource(one.model, one.prompt)
            taken.append(one.id)
    tags = list(record.tags)
    if proposed := found.get("tags"):
        tags += [tag for tag in proposed.tags if tag not in tags]
        taken.append(proposed.id)
    if not taken:
        outcome.refused.append(Refusal(address, "no suggestion is open for anything it lacks"))
        return
    written = library.caption(
        address, caption=texts, tags=tags, revision=record.revision, sources=sources, actor=actor
    )
    outcome.done += written.done
    outcome.refused += written.refused
    if written.done:
        library.suggestions.resolve(taken, "taken", actor=actor)


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


def nearest_texts(reader: "Reader", address: str) -> list[BorrowedTexts]:
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


def suggest_nearest(library: "Library", address: str, *, actor: str = "") -> int:
    """Save them as open suggestions in place of earlier ones; returns for how many facets."""
    found = nearest_texts(library, address)
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
    asked = embedder.embed_texts([f"a picture of {tag}" for tag in known]) * embedder.cross_modal_scale
    near = asked @ seen
    order = [known[place] for place in np.argsort(-near, kind="stable")]
    carried = Counter(tag for record in alike for tag in record.tags if reader.taxonomy.knows(tag))
    shared = [tag for tag, count in carried.most_common() if count > 1]
    return list(dict.fromkeys([*shared[: TAGS - _BY_WORD], *order[: TAGS + _BY_WORD]]))
