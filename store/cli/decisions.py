"""Verbs that decide about coins: their tier, caption, tags, the text in their picture, and undo."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from typer import Argument, Option

from store.catalog import unfit_words
from store.catalog.filters import Filter
from store.cli.call import Call, as_json, spelled
from store.cli.verbs import Address, Addresses, AnyAddresses, Number, Yes, verb, words_of
from store.library import Library
from store.outcome import Outcome, Refusal
from store.pictures.unfit import UnfitWordEdits
from store.progress import Progress
from store.records import Facet
from store.tasks import tags as tagging

Text = Annotated[str | None, Option(metavar="TEXT", help='"" to leave it empty on purpose')]
Words = Annotated[str, Option(metavar="A,B")]


# -- from tier to tier ------------------------------------------------------------------------------------


@verb("approve")
def approve(call: Call, addresses: Addresses) -> int:
    """From review (pending) to approved."""
    return call.change("approved", lambda library, _: library.approve(spelled(addresses), actor=call.actor))


@verb("back-to-review", "return")
def back_to_review(call: Call, addresses: Addresses) -> int:
    """Approved back to review (pending)."""
    return call.change(
        "returned to review", lambda library, _: library.send_back(spelled(addresses), actor=call.actor)
    )


@verb("reject")
def reject(
    call: Call, addresses: Addresses, reason: Annotated[str, Option(help="why, for the history")] = ""
) -> int:
    """From review or approved to Rejected (trash)."""
    return call.change(
        "rejected", lambda library, _: library.reject(spelled(addresses), reason=reason, actor=call.actor)
    )


@verb("remove", "degrade")
def remove(call: Call, addresses: Addresses) -> int:
    """From the library back to approved; captions and vectors stay."""
    return call.change(
        "removed from the library", lambda library, _: library.degrade(spelled(addresses), actor=call.actor)
    )


@verb("delete")
def delete(call: Call, addresses: Addresses) -> int:
    """From any tier to Rejected (trash)."""
    return call.change("deleted", lambda library, _: library.delete(spelled(addresses), actor=call.actor))


@verb("restore")
def restore(call: Call, addresses: Addresses) -> int:
    """Rejected or deleted coins back to where they were."""
    return call.change("restored", lambda library, _: library.restore(spelled(addresses), actor=call.actor))


@verb("promote")
def promote(
    call: Call,
    addresses: AnyAddresses = None,
    everything: Annotated[bool, Option("--all", help="everything approved")] = False,
) -> int:
    """Approved to the library, every facet embedded."""
    call.check_addresses_or_all(addresses, everything)

    def work(library: Library, progress: Progress) -> Outcome:
        chosen = spelled(addresses) or library.addresses(Filter(tier="approved"))
        progress.what, progress.total = "promote", len(chosen)
        return library.promote(chosen, progress=progress, actor=call.actor)

    return call.change("promoted", work)


def _days(given: str | float) -> float:
    try:
        days = float(given)
    except ValueError:
        days = -1.0
    if not 0 <= days < 100_000:
        raise typer.BadParameter(f"{given!r} is not a number of days")
    return days


@verb("empty-trash")
def empty_trash(
    call: Call,
    older_than: Annotated[
        float, Option(metavar="DAYS", parser=_days, help="rejected more than so many days ago (0)")
    ] = 0,
    yes: Yes = False,
) -> int:
    """Delete rejected coins and their files for good."""
    with call.writing() as library:
        found = shown = library.trash.contents(days=older_than)
        if found.addresses and yes:
            shown = call.watch(
                lambda progress: library.trash.empty(
                    days=older_than, expected=len(found.addresses), actor=call.actor, progress=progress
                )
            )
    figures = f"{len(shown.addresses):,} coins, {shown.files:,} files, {shown.size:,} bytes"
    if call.json:
        call.answer_json(
            {
                "found": len(found.addresses), "files": shown.files, "bytes": shown.size,
                "deleted": list(shown.addresses) if yes else [],
                "refused": as_json(shown.refused), "left": shown.left,
            }
        )  # fmt: skip
    if yes or not found.addresses:
        call.say(f"deleted for good: {figures}" if found.addresses else "there is nothing to delete")
        if shown.left:
            call.say(shown.left)
        return max(call.named(shown.refused), int(bool(shown.left)))
    call.say(f"{figures} would be deleted for good; nothing was deleted, add --yes to do it")
    return 1


@verb("undo")
def undo(call: Call, count: Number = 1) -> int:
    """Undo your own last decisions."""
    return call.change("undone", lambda library, _: library.undo(count, actor=call.actor))


@verb("redo")
def redo(call: Call, count: Number = 1) -> int:
    """Redo what was undone."""
    return call.change("redone", lambda library, _: library.redo(count, actor=call.actor))


# -- captions and tags ------------------------------------------------------------------------------------


@verb("caption")
def caption(
    call: Call,
    address: Address,
    entity: Text = None,
    context: Text = None,
    visual: Text = None,
    emotions: Text = None,
    tags: Annotated[
        str | None, Option(metavar="A,B", help='all tags, separated by commas; "" for none')
    ] = None,
) -> int:
    """Write captions and tags; what is not given stays."""
    facets: dict[Facet, str | None] = {
        "entity": entity, "context": context, "visual": visual, "emotions": emotions,
    }  # fmt: skip
    written = {facet: text for facet, text in facets.items() if text is not None}
    if not written and tags is None:
        call.fail("give at least one of --entity, --context, --visual, --emotions, --tags")
    all_tags = None if tags is None else words_of(tags)
    return call.change(
        "captioned",
        lambda library, _: library.caption(
            *spelled([address]), caption=written, tags=all_tags, actor=call.actor
        ),
    )


@verb("tag")
def tag(call: Call, addresses: Addresses, add: Words = "", remove: Words = "") -> int:
    """Add and remove tags."""
    added, removed = words_of(add), words_of(remove)
    if not (added or removed):
        call.fail("give --add, --remove or both")
    return call.change(
        "tagged",
        lambda library, progress: library.edit_tags(
            spelled(addresses), add=added, remove=removed, progress=progress, actor=call.actor
        ),
    )


@verb("rename-tag")
def rename_tag(
    call: Call,
    tags: Annotated[list[str], Argument(metavar="TAG", help="as they are written on the records")],
    to: Annotated[str, Option(metavar="TAG", help="its name; one that is there is merged with")],
) -> int:
    """Give a tag another name everywhere, or merge several."""

    def work(library: Library, progress: Progress) -> Outcome:
        unknown = [
            tag for tag in tags if not library.taxonomy.knows(tag) and not tagging.carrying(library, [tag])
        ]
        names = {tag: to for tag in tags if tag not in unknown}
        outcome = Outcome()
        if names:
            outcome = tagging.rename(library, names, progress=progress, actor=call.actor)
        outcome.refused += [Refusal(tag, _unknown(tag, tagging.known(library))) for tag in unknown]
        return outcome

    return call.change("renamed on", work)


def _entry(text: str) -> tuple[str, str]:
    tag, is_entry, category = (piece.strip() for piece in text.rpartition("="))
    if not (is_entry and tag and category):
        raise typer.BadParameter(f"{text!r} is not TAG=CATEGORY")
    return tag, category


@verb("taxonomy")
def taxonomy(
    call: Call,
    entries: Annotated[list[Any] | None, Option("--set", metavar="TAG=CATEGORY", parser=_entry)] = None,
    remove: Annotated[str, Option(metavar="A,B", help="tags to remove from it")] = "",
) -> int:
    """Show the known tags and their categories, or edit them."""
    removed = words_of(remove)
    if not (entries or removed):
        with call.reading() as reader:
            known = reader.taxonomy.entries
        return call.listed(known, ("tag", "category"), [*known.items()])

    def work(library: Library, progress: Progress) -> Outcome:
        whole = {**library.taxonomy.entries, **dict(entries or ())}
        gone = {tag.casefold() for tag in removed}
        kept = {tag: category for tag, category in whole.items() if tag.casefold() not in gone}
        known = {tag.casefold() for tag in whole}
        unknown = [tag for tag in removed if tag.casefold() not in known]
        in_part = tagging.removed_in_part(library, unknown)
        outcome = Outcome()
        # Given again, it ends an interrupted edit.
        if entries or in_part or kept != library.taxonomy.entries:
            outcome = tagging.change_taxonomy(library, kept, progress=progress, actor=call.actor)
        outcome.refused += [Refusal(tag, _unknown(tag, whole)) for tag in unknown if tag not in in_part]
        return outcome

    return call.change("gave other categories to", work)


def _unknown(tag: str, known: Iterable[str]) -> str:
    near = tagging.alike(tag, known)
    return f"there is no such tag; the nearest: {', '.join(near)}" if near else "there is no such tag"


# -- text in pictures -------------------------------------------------------------------------------------


@verb("read-pictures")
def read_pictures(call: Call) -> int:
    """Read the text in new pictures, and look for nudity."""
    return call.change("read", lambda library, progress: library.picture_texts.read(progress=progress))


@verb("correct-text")
def correct_text(
    call: Call,
    address: Address,
    text: Annotated[str | None, Option(metavar="TEXT", help='its text; "" for none')] = None,
    read: Annotated[bool, Option("--read", help="let what the program read count again")] = False,
) -> int:
    """Correct the text in a coin's picture."""
    if read == (text is not None):
        call.fail("give one of --text and --read")
    return call.change(
        "corrected", lambda library, _: library.correct_text(spelled([address]), text, actor=call.actor)
    )


@verb("comment")
def comment(call: Call, address: Address, text: Annotated[str, Argument(metavar="TEXT")]) -> int:
    """Add a comment to a coin, for the people who decide."""
    return call.change(
        "commented on", lambda library, _: library.comment(spelled([address]), text, actor=call.actor)
    )


@verb("flag")
def flag(
    call: Call,
    addresses: Addresses,
    unfit: Annotated[bool, Option("--unfit")] = False,
    fit: Annotated[bool, Option("--fit")] = False,
    automatic: Annotated[bool, Option("--automatic", help="as program and word list say")] = False,
) -> int:
    """Say whether coins are unfit for the screen (safe mode)."""
    if unfit + fit + automatic != 1:
        call.fail("give one of --unfit, --fit and --automatic")
    says = None if automatic else unfit
    return call.change("flagged", lambda library, _: library.flag(spelled(addresses), says, actor=call.actor))


@verb("unfit-words")
def unfit_words_(call: Call, add: Words = "", remove: Words = "") -> int:
    """Show or edit the words that flag a coin."""
    added, removed, refused = words_of(add), words_of(remove), list[Refusal]()
    if added or removed:
        with call.writing() as library:
            of_list = [*unfit_words.shipped(), *library.unfit.words().added, *added]
            known = unfit_words.cleaned(of_list)
            unknown = [word for word in removed if not set(unfit_words.cleaned([word])) & set(known)]
            refused = [Refusal(word, "it is no word of the list") for word in unknown]
            gone = [word for word in removed if word not in unknown]
            edits = _edited(library, add=added, remove=gone)
    else:
        with call.reading() as reader:
            edits = reader.unfit.words()
    if call.json:
        call.answer_json({"added": list(edits.added), "removed": list(edits.removed)})
    else:
        call.say(f"added: {', '.join(edits.added) or 'none'}; removed: {', '.join(edits.removed) or 'none'}")
    return call.named(refused)


def _edited(library: Library, *, add: Sequence[str], remove: Sequence[str]) -> UnfitWordEdits:
    """Add and remove these words; a word that was removed before and is added counts again."""
    before = library.unfit.words()
    return library.unfit.edit_words(
        added=[word for word in [*before.added, *add] if word not in remove],
        removed=[word for word in [*before.removed, *remove] if word not in add],
    )
