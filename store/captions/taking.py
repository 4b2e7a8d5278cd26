"""Suggestions become a caption where nothing is written yet; what a person wrote is never replaced."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from store.errors import UnknownRecord
from store.importing.candidate import Refusal
from store.outcome import Outcome
from store.progress import Progress
from store.records import CAPTION_FACETS, Facet
from store.writing.operations import Source

if TYPE_CHECKING:
    from store.library import Library


def take(
    library: "Library", addresses: Iterable[str], *, progress: Progress | None = None, who: str = ""
) -> Outcome:
    """Fill empty facets with the newest open suggestion, and add the tags the taxonomy knows.

    New tags, and suggestions for what is written already, stay open for a person.
    """
    outcome = Outcome()
    for address in addresses:
        if progress and progress.cancelled:
            break
        try:
            _take_one(library, address, outcome, who=who)
        except UnknownRecord as error:
            outcome.refused.append(Refusal(address, str(error)))
        if progress:
            progress.done += 1
    return outcome


def _take_one(library: "Library", address: str, outcome: Outcome, *, who: str) -> None:
    record = library.get(address)
    if typing := library.drafts.of(address):
        reason = f"{typing[0].who} is typing a caption for it; save or discard that first"
        outcome.refused.append(Refusal(address, reason))
        return
    found = {one.facet: one for one in reversed(library.suggestions.of(address))}
    texts: dict[Facet, str | None] = {}
    sources: dict[Facet, Source] = {}
    taken = []
    for facet in CAPTION_FACETS:
        one = found.get(facet)
        if one and facet not in record.caption:
            texts[facet], sources[facet] = one.text, Source(one.model, one.prompt)
            taken.append(one.id)
    tags = list(record.tags)
    if proposed := found.get("tags"):
        tags += [tag for tag in proposed.tags if tag not in tags]
        taken.append(proposed.id)
    if not taken:
        outcome.refused.append(Refusal(address, "no suggestion is open for anything it lacks"))
        return
    written = library.caption(
        address, caption=texts, tags=tags, revision=record.revision, sources=sources, who=who
    )
    outcome.done += written.done
    outcome.refused += written.refused
    if written.done:
        library.suggestions.settle(taken, "taken", who=who)
