"""The editor's messages, answered independently of the page's runs, so that typing never waits for one.

Saving a draft, committing a caption, finding neighbours: a run of the page would take the focus away, end
with the connection, and queue behind the previous run.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from components.editor import content
from components.shell.page import job_bar
from components.shell.server.messages import Id, Kind, RowNumber, Sender, alone
from components.shell.session import resources
from store import CaptionSource, Library
from store.captioning import source_of, suggest_nearest
from store.errors import InvalidRecord
from store.records import Facet
from store.tasks import draft, move

_HINT = 500  # characters
_NAME = 200  # of a model or a prompt
_KEPT_TAGS = 2_000  # more than can be saved: what was pasted is kept until its person has chosen

Answer = dict[str, Any]
_Text = Literal["entity", "context", "visual", "emotions"]  # a facet of a caption
_Integer = Annotated[int, Field(strict=True, ge=-(1 << 63), lt=1 << 63)]
_Name = Annotated[str, AfterValidator(lambda name: name[:_NAME])]
_Tags = Annotated[list[str], AfterValidator(lambda tags: tags[:_KEPT_TAGS])]


@dataclass(frozen=True, slots=True)
class Coin:
    """A request about one coin."""

    address: str


@dataclass(frozen=True, slots=True)
class Window:
    """The window that a draft is from, and the draft's number there."""

    client: Annotated[str, Field(max_length=64)]
    n: _Integer


@dataclass(frozen=True, slots=True)
class Base:
    """What was stored when the draft was begun."""

    revision: _Integer
    caption: dict[_Text, str | None]
    tags: list[str]


@dataclass(frozen=True, slots=True)
class Source:
    """The suggestion that a text of the draft started from."""

    model: _Name
    prompt: _Name = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Draft(Window):
    """What is typed: a text for each facet, None for one that is not written yet."""

    caption: dict[_Text, str | None]
    tags: _Tags
    base: Base
    sources: dict[_Text, Source] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """What is stored, with every facet."""
        texts = {facet: self.caption.get(facet) for facet in get_args(_Text)}
        sources = {facet: asdict(source) for facet, source in self.sources.items() if texts[facet]}
        return {**asdict(self), "caption": texts, "sources": sources}


@dataclass(frozen=True, slots=True)
class Keeping(Coin):
    """A draft to store, and the one of another window that it is based on: its window and number."""

    draft: Draft
    knows: str = ""
    seen: _Integer | None = None


@dataclass(frozen=True, slots=True)
class Discarding(Coin):
    """A draft to delete, known by the last number that its window gave."""

    draft: Window
    knows: str = ""
    seen: _Integer | None = None


@dataclass(frozen=True, slots=True)
class Saving(Coin):
    """A draft that becomes the caption, and the suggestions used in it."""

    draft: Draft
    decision: Id
    ids: list[RowNumber] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Promotion(Coin):
    """A coin to promote."""

    decision: Id


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts to measure."""

    texts: dict[_Text, str]


@dataclass(frozen=True, slots=True)
class Neighbourhood(Coin):
    """A text of a coin whose neighbours are looked for."""

    facet: _Text
    text: str


@dataclass(frozen=True, slots=True)
class Asking(Coin):
    """What a language model is asked for: one facet, or "" for all."""

    facet: _Text | Literal[""] = ""
    hint: Annotated[str, AfterValidator(lambda hint: hint[:_HINT])] = ""


@dataclass(frozen=True, slots=True)
class Waiting(Coin):
    """What is waited for: suggestions of this job, 0 for none in particular."""

    job: Annotated[int, Field(strict=True, ge=0, lt=1 << 63)] = 0


@dataclass(frozen=True, slots=True)
class Refusing(Coin):
    """Suggestions that are not wanted."""

    ids: list[RowNumber]


def keep(library: Library, message: Keeping, _: Sender) -> Answer:
    """Save a draft.

    A newer one, or one from another window that this one has not seen, is not overwritten.
    """
    record = library.get(message.address)  # a draft of nothing would never be found again
    fields = message.draft.fields()
    stays = library.drafts.save(record.address, fields, replaces=partial(_replaces, message))
    if stays and stays.get("client") != message.draft.client:
        return {"elsewhere": content.readable(stays, record)}
    return {"kept": (stays or fields)["n"]}


def discard(library: Library, message: Discarding, _: Sender) -> Answer:
    """Delete this person's draft, unless another window wrote what this one has not seen."""
    record = library.get(message.address)
    stays = library.drafts.discard(record.address, replaces=partial(_replaces, message))
    if stays and stays.get("client") != message.draft.client:
        return {"elsewhere": content.readable(stays, record)}
    return {"content": content.content(library, record)}


def _replaces(message: Keeping | Discarding, before: Mapping[str, Any]) -> bool:
    """Whether the window of the message has seen all of the stored draft."""
    if before.get("client") == message.draft.client:
        return int(before.get("n", 0)) < message.draft.n
    is_all_seen = message.seen is None or int(before.get("n", 0)) <= message.seen
    return is_all_seen and message.knows == before.get("client", "")


def own(library: Library, message: Coin, _: Sender) -> Answer:
    """This person's current draft, from any window."""
    fields = library.drafts.own(message.address)
    return {"draft": content.readable(fields, library.get(message.address)) if fields else None}


def commit(library: Library, message: Saving, _: Sender) -> Answer:
    """Save the caption, unless the record changed meanwhile: then the user compares both.

    Sent again after its answer was lost, it is saved already. Raises InvalidRecord if the store refuses it.
    """
    fields = message.draft.fields()
    revision = message.draft.base.revision
    with alone(message.decision):
        outcome = library.caption(
            message.address,
            caption=fields["caption"],
            tags=fields["tags"],
            revision=revision,
            sources=_sources(fields),
            decision=message.decision,
        )
    now = library.get(message.address)
    if outcome.refused and now.revision != revision:
        return {"conflict": content.content(library, now)}
    if outcome.refused:
        raise InvalidRecord(outcome.refused[0].reason)
    library.suggestions.resolve(message.ids, "taken")
    return {"saved": content.content(library, now)}


def _sources(fields: Mapping[str, Any]) -> dict[Facet, CaptionSource]:
    """The model of each facet that still has something of its suggestion."""
    found = {
        facet: source_of(
            CaptionSource(source["model"], source["prompt"]),
            suggestion=source["text"],
            text=fields["caption"][facet],
        )
        for facet, source in fields["sources"].items()
    }
    return {facet: wrote for facet, wrote in found.items() if wrote}


def promote(library: Library, message: Promotion, sender: Sender) -> Answer:
    """Promote the coin in the background; the page's session is notified when that is done."""
    if job := move.start_promotion(library, message.address, decision=message.decision):
        job_bar.watch_for(sender.session, job)
    return {}


def measure(library: Library, message: Texts, _: Sender) -> Answer:
    """How much of the model's limit each text uses."""
    return content.measured(library, {facet: text for facet, text in message.texts.items() if text})


def look(library: Library, message: Neighbourhood, _: Sender) -> Answer:
    """The coins closest to this text; `waits` while the model is not ready."""
    if resources.status(library).model_status != "ready":
        return {"waits": True}
    if not message.text.strip():
        return {}
    return content.neighbours_of(library, message.address, message.facet, message.text)


def history(library: Library, message: Coin, _: Sender) -> Answer:
    """The revisions of the coin's caption."""
    return {"revisions": content.history_of(library, message.address)}


def suggest(library: Library, message: Asking, _: Sender) -> Answer:
    """Ask the language model about one facet, or all; the answer becomes a suggestion."""
    plan = draft.plan_drafting(library, [message.address], only=message.facet or None, hint=message.hint)
    known = content.proposed(library, message.address)  # first: if it fails, the model must not be asked
    job = draft.start(library, plan, actor=library.actor_name)
    return {"job": job.id, **known}


def nearest(library: Library, message: Coin, _: Sender) -> Answer:
    """Suggestions that need only the embedding model."""
    found = suggest_nearest(library, message.address, actor=library.actor_name)
    why = "" if found else "The library holds no coin yet whose picture could be near to this one."
    return {"why": why, **content.proposed(library, message.address)}


def suggestions(library: Library, message: Waiting, _: Sender) -> Answer:
    """The suggestions for a coin; and why a job that failed has none."""
    job = library.jobs.get(message.job)
    failed = ""
    if job and not job.is_under_way:
        refused = library.jobs.items(job.id, state="refused", limit=1)
        failed = refused[0].reason if refused else job.error
    return {"why": failed, **content.proposed(library, message.address)}


def refuse(library: Library, message: Refusing, _: Sender) -> Answer:
    """Mark suggestions as refused; returns those that are left."""
    library.suggestions.resolve(message.ids, "refused")
    return content.proposed(library, message.address)


def _kind(model: type[Any], answer: Callable[[Library, Any, Sender], Answer], *, writes: bool) -> Kind[Any]:
    return Kind(f"editor-{answer.__name__}", model, answer, writes=writes)


KINDS = (
    _kind(Keeping, keep, writes=True),
    _kind(Discarding, discard, writes=True),
    _kind(Coin, own, writes=False),
    _kind(Saving, commit, writes=True),
    _kind(Promotion, promote, writes=True),
    _kind(Texts, measure, writes=False),
    _kind(Neighbourhood, look, writes=False),
    _kind(Coin, history, writes=False),
    _kind(Asking, suggest, writes=True),
    _kind(Coin, nearest, writes=True),
    _kind(Waiting, suggestions, writes=False),
    _kind(Refusing, refuse, writes=True),
)
