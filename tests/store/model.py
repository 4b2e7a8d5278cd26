"""A library as a plain dict: a second implementation of the verbs that move a record."""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from store.records import Tier
from tests.store.conftest import TAXONOMY

MOVES: dict[str, tuple[set[Tier], Tier | None]] = {
    "approve": ({"pending"}, "approved"),
    "return": ({"approved"}, "pending"),
    "reject": ({"pending", "approved"}, "trash"),
    "promote": ({"approved"}, "library"),
    "degrade": ({"library"}, "approved"),
    "delete": ({"pending", "approved", "library"}, "trash"),
    "restore": ({"trash"}, None),
}


@dataclass(frozen=True)
class ModelRecord:
    """One record; the sidecar is replaced, never changed."""

    tier: Tier
    came_from: Tier | None
    sidecar: dict[str, Any]
    image_hash: str

    @property
    def can_be_in_library(self) -> bool:
        caption = self.sidecar.get("caption", {})
        return all(caption.get(facet, "").strip() for facet in ("entity", "context"))


@dataclass
class ModelDecision:
    verb: str
    actor: str
    changes: list[tuple[str, ModelRecord | None, ModelRecord]]
    is_reversed: bool = False  # only the last of a chain of undos and redos can be
    follower: "ModelDecision | None" = None  # the undo or redo of it, if that changed anything

    @property
    def is_undone(self) -> bool:
        """As lists show it: what was redone stands."""
        if self.follower is None:
            return self.is_reversed
        others, last = 1, self.follower
        while last.follower:
            others, last = others + 1, last.follower
        return others % 2 == 1


@dataclass
class Model:
    """Every method returns the addresses that it accepted."""

    records: dict[str, ModelRecord] = field(default_factory=dict)
    drafts: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)  # by address and person
    decisions: list[ModelDecision] = field(default_factory=list)

    def copy(self) -> "Model":
        return deepcopy(self)

    def add(self, coins: dict[str, tuple[dict[str, Any], str]], *, actor: str) -> list[str]:
        goals = {
            address: ModelRecord("pending", None, sidecar, image_hash)
            for address, (sidecar, image_hash) in coins.items()
            if address not in self.records
        }
        return self._decide("import", goals, actor=actor)

    def move(self, verb: str, addresses: list[str], *, actor: str) -> list[str]:
        sources, target = MOVES[verb]
        goals = {}
        for address in addresses:
            record = self.records.get(address)
            if record is None or record.tier not in sources:
                continue
            tier = target or record.came_from or "pending"
            if tier == "library" and not record.can_be_in_library:
                continue
            goals[address] = replace(record, tier=tier, came_from=record.tier if tier == "trash" else None)
        return self._decide(verb, goals, actor=actor)

    def caption(self, address: str, caption: dict[str, str | None], *, actor: str) -> list[str]:
        record = self.records.get(address)
        if record is None or record.tier == "trash":
            return []
        texts = {**record.sidecar.get("caption", {}), **caption}
        texts = {facet: text for facet, text in texts.items() if text is not None}
        goal = replace(record, sidecar={**record.sidecar, "caption": texts})
        if goal.tier == "library" and not goal.can_be_in_library:
            return []
        self.drafts.pop((address, actor), None)
        return self._decide("caption", {address: goal}, actor=actor)

    def tag(self, addresses: list[str], add: list[str], remove: list[str], *, actor: str) -> list[str]:
        goals = {}
        for address in addresses:
            record = self.records.get(address)
            # With nothing to add or remove, only the categories are updated, in the trash as well.
            if record is None or (record.tier == "trash" and (add or remove)):
                continue
            tags = [tag for tag in dict.fromkeys([*record.sidecar["tags"], *add]) if tag not in remove]
            categories = list(dict.fromkeys(TAXONOMY.get(tag, "other") for tag in tags))
            sidecar = {**record.sidecar, "tags": tags, "tags_categories": categories}
            goals[address] = replace(record, sidecar=sidecar)
        return self._decide("tag", goals, actor=actor)

    def undo(self, *, actor: str) -> list[str] | None:
        """Return None if there is nothing to undo."""
        own = [made for made in self.decisions if made.actor == actor and made.verb != "undo"]
        return self._reverse("undo", [made for made in own if not made.is_reversed], actor=actor)

    def redo(self, *, actor: str) -> list[str] | None:
        open_to_redo: list[ModelDecision] = []
        for made in self.decisions:
            if made.actor == actor and made.verb == "undo" and not made.is_reversed:
                open_to_redo.append(made)
            elif made.actor == actor and made.verb not in ("undo", "redo"):
                open_to_redo.clear()
        return self._reverse("redo", open_to_redo, actor=actor)

    def _reverse(self, verb: str, candidates: list[ModelDecision], *, actor: str) -> list[str] | None:
        if not candidates:
            return None
        chosen = candidates[-1]
        goals = {}
        for address, before, after in chosen.changes:
            now = self.records[address]
            if now == before:
                goals[address] = now
            elif now == after:
                goals[address] = before or replace(after, tier="trash", came_from=after.tier)
        count = len(self.decisions)
        done = self._decide(verb, goals, actor=actor)
        chosen.is_reversed = True
        chosen.follower = self.decisions[-1] if len(self.decisions) > count else None
        return done

    def _decide(self, verb: str, goals: dict[str, ModelRecord], *, actor: str) -> list[str]:
        changes = [
            (address, self.records.get(address), goal)
            for address, goal in goals.items()
            if goal != self.records.get(address)
        ]
        if changes:
            self.decisions.append(ModelDecision(verb, actor, changes))
        self.records |= goals
        return list(goals)
