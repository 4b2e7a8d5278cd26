"""One grid of coins for review, the approved queue, search results and the trash."""

from components.grid.actions import (
    APPROVE,
    BAD,
    CAPTION,
    DEGRADE,
    DELETE,
    DRAFT,
    EXPORT,
    GOOD,
    LIKE,
    MODEL,
    PROMOTE,
    REJECT,
    REPLACE,
    RESTORE,
    RETURN,
    STYLE,
    TAGS,
    Action,
)
from components.grid.browse import View, browse, turning
from components.grid.cards import Mark
from components.grid.grid import go_to, lead_to, show_cards
from components.grid.ledger import Entry, Handler
from components.grid.ordering import resembling
from components.grid.results import (
    RESULT_VIEWS,
    ResultView,
    chosen_calibration,
    chosen_held,
    chosen_view,
    chosen_weights,
    show_results,
)

__all__ = [
    "APPROVE",
    "BAD",
    "CAPTION",
    "DEGRADE",
    "DELETE",
    "DRAFT",
    "EXPORT",
    "GOOD",
    "LIKE",
    "MODEL",
    "PROMOTE",
    "REJECT",
    "REPLACE",
    "RESTORE",
    "RESULT_VIEWS",
    "RETURN",
    "STYLE",
    "TAGS",
    "Action",
    "Entry",
    "Handler",
    "Mark",
    "ResultView",
    "View",
    "browse",
    "chosen_calibration",
    "chosen_held",
    "chosen_view",
    "chosen_weights",
    "go_to",
    "lead_to",
    "resembling",
    "show_cards",
    "show_results",
    "turning",
]
