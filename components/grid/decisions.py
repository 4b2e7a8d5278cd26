"""Decisions of a grid, each done once however often its page sends it.

A page makes the id of each decision and sends it until it is answered. The store knows what it has done under
an id; what the history does not tell, such as a refusal, is stored as the answer (`library.answers`).
"""

import contextlib
import json
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, cast

from pydantic import Field, TypeAdapter, ValidationError
from starlette.responses import PlainTextResponse

from components.grid.matching import addresses
from components.grid.remote_decisions import decided_since, decision_text
from components.shell import format
from components.shell.page import job_bar
from components.shell.page.undo import AT_ONCE, undone_text
from components.shell.server.messages import Id, Kind, Sender, alone
from components.shell.session import safe_mode, session
from store import Event, Filter, Job, Library, MemedexError, Move, Outcome, Record, Refusal
from store.catalog import history
from store.disk import files
from store.errors import LoginEnded, NothingToUndo, NotWritten, UnknownRecord
from store.records import MAX_FACET, REQUIRED_FACETS, Tier
from store.rules import keeping, second_opinions
from store.tasks import undo

log = logging.getLogger(__name__)

MAX_ADDRESSES = 200_000
_ANSWERED = 200  # refusals that a page is told


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision as its page made it; everything in it comes from a browser."""

    id: Id
    verb: str
    addresses: Annotated[list[str], Field(max_length=MAX_ADDRESSES)] = field(default_factory=list)
    seen: Mapping[str, int | None] = field(default_factory=dict)  # the revision of each record then
    after: Sequence[Id] = ()  # the page's own decisions about these records, which it knows
    matching: Mapping[str, Any] | None = None  # instead of addresses: all that pass a filter
    reason: Annotated[str, Field(max_length=500)] = ""
    others: Sequence[str] = ()  # that a verdict is about
    add: Sequence[str] = ()  # tags
    remove: Sequence[str] = ()
    text: Annotated[str, Field(max_length=MAX_FACET)] | None = None  # None: as a program read it
    is_sure: bool = False  # it was asked about, and is wanted all the same
    undoes: Id | None = None  # the decision that an undo reverses, or the undo that a redo does


@dataclass(frozen=True, slots=True)
class Log:
    """What one page has decided and not heard of yet, in order."""

    library: str  # where and by whom it was decided
    who: str
    entries: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Repeatable(Refusal):
    """A coin that the person may decide all the same, having seen what speaks against it."""

    seen: int = 0  # its revision by then


# The verbs that move coins: the name of a large one, and where it leads if coins come from several tiers.
_MOVES: Mapping[str, tuple[str, Tier | None]] = {
    "approve": ("Approve {}", "approved"),
    "return": ("Return {} to review", "pending"),
    "reject": ("Reject {}", "trash"),
    "degrade": ("Remove {} from the library", "approved"),
    "delete": ("Delete {}", "trash"),
    "restore": ("Restore {}", None),
}
_FLAGS = {"unfit": True, "fit": False}  # the reason of a flag; any other: as the program says

_VERBS: Mapping[str, Callable[[Library, Decision], Outcome]] = {
    **dict.fromkeys(_MOVES, lambda library, one: _move(library, one)),
    "tag": lambda library, one: library.edit_tags(
        one.addresses, add=one.add, remove=one.remove, decision=one.id
    ),
    "correct text": lambda library, one: library.correct_text(one.addresses, one.text, decision=one.id),
    "comment": lambda library, one: library.comment(one.addresses, one.text or "", decision=one.id),
    "flag": lambda library, one: library.flag(one.addresses, _FLAGS.get(one.reason), decision=one.id),
    "judge": lambda library, one: library.duplicates.judge(
        "".join(one.addresses[:1]), one.reason, one.others, decision=one.id
    ),
    "second approve": lambda library, one: second_opinions.answer(
        library, one.addresses, "approved", decision=one.id
    ),
    "second reject": lambda library, one: second_opinions.answer(
        library, one.addresses, "rejected", reason=one.reason, decision=one.id
    ),
    "settle approve": lambda library, one: second_opinions.settle(
        library, one.addresses, "approved", decision=one.id
    ),
    "settle reject": lambda library, one: second_opinions.settle(
        library, one.addresses, "rejected", reason=one.reason, decision=one.id
    ),
    "undo": lambda library, one: _take_back(library, one),
    "redo": lambda library, one: _take_back(library, one),
}
_DECISION = TypeAdapter[Decision](Decision)


def answer(library: Library, sent: Log, sender: Sender) -> object:
    """Do these in order, and answer each by its id; the rest waits if the login ends in between."""
    if (sent.library, sent.who) != (library.id, library.actor_name):
        return PlainTextResponse(
            f"this was not decided in this library by {library.actor_name}: it was not done", 409
        )
    answers = {}
    for entry in sent.entries:
        try:
            person = library.for_actor(library.catalog.actor.admitted())
        except LoginEnded:
            break
        session.note_decision(sender.session, str(entry.get("id")))
        answers[str(entry.get("id"))] = decide(person, entry, sender=sender)
    return {"answers": answers}


KIND = Kind("decisions", Log, answer, writes=True)


def decide(library: Library, entry: Mapping[str, Any], *, sender: Sender) -> dict[str, Any]:
    """Do this unless it was done, and say what came of it: the same each time."""
    try:
        decision = _DECISION.validate_python(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        wrong = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return _answer(library, str(entry.get("verb", "")), Outcome(refused=[Refusal("", wrong)]))
    with alone(decision.id):
        if (known := library.answers.find(decision.id)) is not None:
            stored: dict[str, Any] = json.loads(known)
            return stored
        outcome = _outcome(library, decision, sender)
        told = _answer(library, decision.verb, outcome, reason=decision.reason)
        if outcome.refused or outcome.unchanged or not outcome.decision:  # else the history tells it
            with contextlib.suppress(NotWritten):
                library.answers.store(decision.id, json.dumps(told))
        return told


def _outcome(library: Library, decision: Decision, sender: Sender) -> Outcome:
    """What came of a decision; errors are an answer, because otherwise its page would send it for ever."""
    try:
        return _carry_out(library, decision, sender)
    except MemedexError as error:
        return _refused(decision, str(error))
    except (OSError, sqlite3.Error) as error:
        log.exception("%s of %d coins failed", decision.verb, len(decision.addresses))
        return _refused(decision, files.refused(error, library.layout.root))
    except Exception:
        log.exception("%s of %d coins failed", decision.verb, len(decision.addresses))
        return _refused(decision, f"{decision.verb} failed: a bug in Memedex; see the server log")


def _carry_out(library: Library, decision: Decision, sender: Sender) -> Outcome:
    if (begun := _begun(library, decision)) is not None:
        return begun
    if decision.matching is not None:
        decision = replace(decision, addresses=addresses(library, decision.matching))
    if decision.verb == "promote":
        return _promote(library, decision, sender)
    if decision.verb == "keep":
        return _keep(library, decision, sender)
    if decision.verb not in _VERBS:
        return _refused(decision, f"{decision.verb} cannot be done here")
    elsewhere = _decided_elsewhere(library, decision) if decision.verb in _MOVES else {}
    left = [address for address in decision.addresses if address not in elsewhere]
    asked: list[Refusal] = [
        Repeatable(address, decision_text(library, event), seen=library.get(address).revision)
        for address, event in elsewhere.items()
    ]
    if elsewhere and not left:
        return Outcome(refused=asked)
    decision = replace(decision, addresses=left)
    is_long = len(left) > AT_ONCE and (decision.verb in _MOVES or decision.verb == "tag")
    outcome = _begin(library, decision) if is_long else _VERBS[decision.verb](library, decision)
    outcome.refused += asked
    return outcome


def _begun(library: Library, decision: Decision) -> Outcome | None:
    """What came of a decision that is not gone on with: a job does so, or it was undone since; else None.

    A server that stops between the first part of a decision and its answer leaves it so.
    """
    is_whole = decision.verb in ("judge", "undo", "redo")  # of one part, or `reverse` knows what is left
    job = None if is_whole else library.jobs.of_decision(decision.id)
    with library.catalog.reading() as db:
        is_undone = history.is_reversed(db, decision.id)
        if job is None and not is_undone:
            return None
        taken = {*history.of_decision(db, decision.id, among=decision.addresses)}
    if job:
        taken |= {item.key for item in library.jobs.items(job.id, limit=-1)}
    elif is_whole:
        taken |= {*decision.addresses}
    why = "it was undone while it was under way" if is_undone else "it was left out: decide it again"
    return Outcome(refused=[Refusal(each, why) for each in decision.addresses if each not in taken])


def _decided_elsewhere(library: Library, decision: Decision) -> dict[str, Event]:
    """Those that were moved since this page saw them, and not by the page itself."""
    with library.catalog.reading() as db:
        done = set(history.of_decision(db, decision.id, among=decision.addresses))
    return {
        address: event
        for address in decision.addresses
        if (seen := decision.seen.get(address)) is not None
        and address not in done
        and (event := decided_since(library, address, seen=seen, made=decision.after))
        and event.after_tier != _MOVES[decision.verb][1]  # else the store says that it is there already
    }


def _move(library: Library, decision: Decision) -> Outcome:
    verb = cast(Move, decision.verb)
    return library.move(verb, decision.addresses, decision=decision.id, reason=decision.reason)


def _take_back(library: Library, decision: Decision) -> Outcome:
    if decision.undoes is None:
        raise NothingToUndo(f"nothing to {decision.verb}")
    return undo.reverse(library, decision.undoes, at_once=AT_ONCE, decision=decision.id)


def _begin(library: Library, decision: Decision) -> Outcome:
    """Start a large decision as a job: one decision with progress and a way to stop."""
    label, _ = _MOVES.get(decision.verb, ("Tag {}", None))
    name = label.format(f"{len(decision.addresses):,} coins")
    kind, options = "move", dict[str, Any](verb=decision.verb, reason=decision.reason)
    if decision.verb == "tag":
        kind, options = "tags", {"add": [*decision.add], "remove": [*decision.remove]}
    library.jobs.start(kind, decision.addresses, name=name, options=options, decision=decision.id)
    return Outcome()


def start_promotion(library: Library, addresses: Sequence[str], *, decision: str | None = None) -> Job:
    """Promote these in the background."""
    name = f"Promote {format.counted(len(addresses), 'coin')}"
    return library.jobs.start("move", addresses, name=name, options={"verb": "promote"}, decision=decision)


def missing_facets(record: Record) -> str:
    """What a promotion lacks: "entity and context"."""
    return " and ".join(facet for facet in REQUIRED_FACETS if not record.caption.get(facet, "").strip())


def _promote(library: Library, decision: Decision, sender: Sender) -> Outcome:
    """Start the job for those with captions; of a judged copy, the person is asked first."""
    captioned = set(library.addresses(Filter(tier="approved", captioned=True)))
    copies = {} if decision.is_sure else library.duplicates.copies()
    ready, refusals = list[str](), list[Refusal]()
    for address in decision.addresses:
        if address not in captioned:
            refusals.append(Refusal(address, _obstacle(library, address)))
        elif address in copies:
            original = safe_mode.shown(library, library.get(copies[address])).name
            seen = library.get(address).revision
            refusals.insert(0, Repeatable(address, f"judged a copy of {original}", seen=seen))
        else:
            ready.append(address)
    if ready:
        job_bar.watch_for(sender.session, start_promotion(library, ready, decision=decision.id))
    return Outcome(refused=refusals[:_ANSWERED])


def _keep(library: Library, decision: Decision, sender: Sender) -> Outcome:
    """Start the job that keeps one coin and rejects the others, but for those that were moved since."""
    if len(decision.addresses) != 1:
        return _refused(decision, "name the one coin that is kept")
    others = replace(decision, verb="reject", addresses=[*decision.others])
    elsewhere = _decided_elsewhere(library, others)
    left = [address for address in others.addresses if address not in elsewhere]
    kept = library.get(decision.addresses[0])
    if left:
        name = f"Keep {format.cut(kept.name, limit=40)}, reject {format.counted(len(left), 'other')}"
        if gain := keeping.gain_in_words(kept, library.records(left)):
            name += f", which gives it {gain}"
        job = library.jobs.start("keep", [(kept.address, left)], name=name[:200], decision=decision.id)
        job_bar.watch_for(sender.session, job)
    return Outcome(
        refused=[Refusal(address, decision_text(library, event)) for address, event in elsewhere.items()]
    )


def _obstacle(library: Library, address: str) -> str:
    """Why it cannot be promoted, with the remedy."""
    try:
        record = library.get(address)
    except UnknownRecord as error:
        return str(error)
    if record.tier != "approved":
        return f"it is in {format.TIERS[record.tier]} now"
    return f"can't promote yet: write {missing_facets(record)} on Captions"


def _refused(decision: Decision, reason: str) -> Outcome:
    return Outcome(refused=[Refusal(address, reason) for address in decision.addresses or [""]])


def _answer(library: Library, verb: str, outcome: Outcome, *, reason: str = "") -> dict[str, Any]:
    """What the page is told, also if that cannot be read now: else it would send the decision again."""
    try:
        generation = library.generation
        message = undone_text(library, verb, outcome.reversed, by=outcome.decision)
    except Exception:
        log.exception("what came of %s cannot be read", verb)
        generation, message = 0, ""
    repeatable = [refusal for refusal in outcome.refused if isinstance(refusal, Repeatable)]
    return {
        "generation": generation,  # cards of an earlier one do not show it
        "verb": verb,
        "reason": reason,
        "again": {refusal.item: refusal.seen for refusal in repeatable},  # with what was seen by then
        "done": outcome.done[:1],  # the page only needs to know where to look
        "message": message,
        "refused": [
            {"item": refusal.item, "reason": refusal.reason} for refusal in outcome.refused[:_ANSWERED]
        ],
    }
