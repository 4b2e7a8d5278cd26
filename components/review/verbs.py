"""What the verbs of coins do that need a page of their own."""

from collections.abc import Mapping

from components.captions import draft, replace
from components.exchange import export
from components.grid import Handler, go_to, resembling


def handlers(key: str) -> Mapping[str, Handler]:
    """The handlers of a grid with this key that can be ordered by similarity."""
    return {**ELSEWHERE, **resembling(key)}


ELSEWHERE: Mapping[str, Handler] = {
    "like": go_to("pages/search.py", "like"),
    "caption": go_to("pages/captions.py", "address"),
    "draft": draft.preselect,
    "replace": replace.preselect,
    "export": export.preselect,
}
