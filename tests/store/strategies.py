"""Random commands that can be applied both to a library and to its model."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from store.disk.files import content_hash
from store.errors import NothingToUndo
from store.library import Library
from store.records import CAPTION_FACETS
from tests.store.conftest import CREATED_AT, address, coin, normal_picture
from tests.store.model import MOVES, Model

COINS = range(6)
PEOPLE = ("ann", "bob")
TAGS = ("dog", "cat", "moon", "free")
TEXTS = ("a frog", "a rocket", "the moon", "", "Ünïcode 🐸 <b>", "one, two")


@dataclass(frozen=True)
class Command:
    """One action of a person, for the library and for the model."""

    verb: str
    actor: str
    subjects: tuple[int, ...] = ()
    caption: tuple[tuple[str, str | None], ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def addresses(self) -> list[str]:
        return [address(number) for number in self.subjects]

    def apply_to_library(self, library: Library) -> list[str] | None:
        """Return the addresses done; None if there was nothing to undo."""
        actor, addresses = self.actor, self.addresses
        moves: dict[str, Any] = {
            "approve": library.approve,
            "return": library.send_back,
            "reject": library.reject,
            "promote": library.promote,
            "degrade": library.degrade,
            "delete": library.delete,
            "restore": library.restore,
        }
        if self.verb in moves:
            return list(moves[self.verb](addresses, actor=actor).done)
        if self.verb == "import":
            return library.add((coin(number) for number in self.subjects), actor=actor).done
        if self.verb == "caption":
            return library.caption(addresses[0], caption=dict(self.caption), actor=actor).done  # type: ignore[arg-type]
        if self.verb == "tag":
            return library.edit_tags(addresses, add=self.add, remove=self.remove, actor=actor).done
        try:
            return (library.undo if self.verb == "undo" else library.redo)(actor=actor).done
        except NothingToUndo:
            return None

    def apply_to_model(self, model: Model) -> list[str] | None:
        actor, addresses = self.actor, self.addresses
        if self.verb in MOVES:
            return model.move(self.verb, addresses, actor=actor)
        if self.verb == "import":
            return model.add({address(number): _imported(number) for number in self.subjects}, actor=actor)
        if self.verb == "caption":
            return model.caption(addresses[0], dict(self.caption), actor=actor)
        if self.verb == "tag":
            return model.tag(addresses, list(self.add), list(self.remove), actor=actor)
        return model.undo(actor=actor) if self.verb == "undo" else model.redo(actor=actor)


def _imported(number: int) -> tuple[dict[str, Any], str]:
    sidecar = {
        "token_name": f"Coin {number}",
        "ticker": f"C{number}",
        "description": f"The coin number {number}.",
        "token_address": address(number),
        "created_at": CREATED_AT + number,
        "tags": ["dog"],
        "tags_categories": ["animals"],
    }
    return sidecar, content_hash(normal_picture(number))


def commands() -> st.SearchStrategy[Command]:
    """Any verb on any records, whether it applies to them or not."""
    actor = st.sampled_from(PEOPLE)
    several = st.lists(st.sampled_from(COINS), min_size=1, max_size=4, unique=True).map(tuple)
    one = st.sampled_from(COINS).map(lambda number: (number,))
    tags = st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple)
    required = st.tuples(
        st.tuples(st.just("entity"), st.sampled_from(TEXTS[:3])),
        st.tuples(st.just("context"), st.sampled_from(TEXTS[:3])),
    )
    any_facets = st.dictionaries(
        st.sampled_from(CAPTION_FACETS), st.sampled_from((*TEXTS, None)), min_size=1
    ).map(lambda facets: tuple(facets.items()))
    return st.one_of(
        st.builds(Command, st.just("import"), actor, several),
        st.builds(Command, st.sampled_from(sorted(MOVES)), actor, several),
        st.builds(Command, st.sampled_from(("approve", "promote", "delete")), actor, several),
        st.builds(Command, st.just("caption"), actor, one, required),
        st.builds(Command, st.just("caption"), actor, one, any_facets),
        st.builds(Command, st.just("tag"), actor, several, add=tags, remove=tags),
        st.builds(Command, st.sampled_from(("undo", "redo")), actor),
        st.builds(Command, st.sampled_from(("undo", "redo")), st.just(PEOPLE[0])),
    )
