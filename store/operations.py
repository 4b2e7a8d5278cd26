"""Changes of the library, as the journal and the history store them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from uuid import uuid4

from store.records import Facet, Tier

EMPTY_TRASH = "empty trash"  # the verb of an operation that deletes its records for good


@dataclass(frozen=True, slots=True)
class State:
    """A record's tier and content; the sidecar's text is in the catalog under its hash."""

    tier: Tier
    sidecar_hash: str
    image_hash: str
    came_from: Tier | None = None


@dataclass(frozen=True, slots=True)
class CaptionSource:
    """The model that wrote a text, with its prompt and version, and whether a person edited it."""

    model: str
    prompt: str = ""
    edited: bool = False

    def __post_init__(self) -> None:
        _make_storable(self, "model", "prompt")


@dataclass(frozen=True, slots=True)
class Change:
    """One record from one state to another; `before` is None for a new record."""

    address: str
    before: State | None
    after: State
    revision: int = 0  # the record's revision when this was computed; a later one refuses the change
    embeddings: Mapping[Facet, str] = field(default_factory=dict)  # facet → key of its vector, in the library


@dataclass(frozen=True, slots=True)
class Operation:
    """Up to 256 changes decided by one commit; operations of one decision share its id."""

    id: str
    decision: str
    verb: str
    actor: str
    created_at: float  # UNIX seconds
    changes: tuple[Change, ...]
    reason: str = ""
    reverses: str | None = None  # the decision of which nothing is left to undo after this
    sources: Mapping[Facet, CaptionSource] = field(default_factory=dict)  # of facets that a model wrote

    @property
    def erases(self) -> bool:
        """Whether it deletes its records for good, whatever state they end in."""
        return self.verb == EMPTY_TRASH

    def __post_init__(self) -> None:
        _make_storable(self, "actor", "reason")  # also of journals from before decisions did so

    def as_json(self) -> str:
        """The operation as JSON text, for the journal."""
        fields = asdict(self)
        fields["who"], fields["at"] = fields.pop("actor"), fields.pop("created_at")  # as journals have it
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> "Operation":
        """The operation that `as_json` wrote."""
        fields = json.loads(text)
        fields["actor"], fields["created_at"] = fields.pop("who"), fields.pop("at")
        fields["changes"] = tuple(
            Change(**{**change, "before": state_from(change["before"]), "after": State(**change["after"])})
            for change in fields["changes"]
        )
        sources = {facet: CaptionSource(**source) for facet, source in fields.pop("sources", {}).items()}
        return cls(**fields, sources=sources)


def state_from(fields: Mapping[str, str] | None) -> State | None:
    """The state that these fields describe; None outside the library."""
    return State(**fields) if fields else None  # type: ignore[arg-type]  # as a State was written


def state_json(state: State | None) -> str | None:
    """A state as JSON text; None outside the library."""
    return json.dumps(asdict(state)) if state else None


@dataclass(frozen=True, slots=True)
class DecisionIntent:
    """A decision; its operations share its id and are undone together."""

    verb: str
    actor: str
    reason: str = ""
    reverses: str | None = None
    sources: Mapping[Facet, CaptionSource] = field(default_factory=dict)  # of facets that a model wrote
    id: str = field(default_factory=lambda: uuid4().hex)
    moment: float | None = None  # when it was made, UNIX seconds; None: when it is carried out

    def __post_init__(self) -> None:
        _make_storable(self, "actor", "reason")


def _make_storable(words: object, *names: str) -> None:
    """Replace an unpaired surrogate: the journal would take it, the history never."""
    for name in names:
        object.__setattr__(words, name, getattr(words, name).encode("utf-8", "replace").decode())
