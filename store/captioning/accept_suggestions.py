"""Accept suggestions as captions for empty facets; what a person wrote is never replaced."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from store.errors import UnknownRecord
from store.operations import CaptionSource
from store.outcome import Outcome, Refusal
from store.progress import Progress
from store.records import CAPTION_FACETS, Facet

if TYPE_CHECKING:
    from store.library import Library


def accept(
    library: "Library", addresses: Iterable[str], *, progress: Progress | None = None, actor: str = ""
) -> Outcome:
    """Fill empty facets with the newest open suggestions, and add the tags that the taxonomy knows.

    New tags, and suggestions for filled facets, stay open for a person.
    """
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
