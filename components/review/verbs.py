"""What the verbs of coins do that need a page of their own."""

from collections.abc import Mapping

from components.captions import draft, replace
from components.exchange import export
from components.grid.actions import Handler
from components.grid.ordering import resembling


def handlers(key: str) -> Mapping[str, Handler]:
    """The handlers of a grid with this key that can be ordered by similarity."""
    return {**ELSEWHERE, **resembling(key)}


ELSEWHERE: Mapping[str, Handler] = {
    "draft": draft.preselect,
    "replace": replace.preselect,
    "export": export.preselect,
}
