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
from components.grid.browse import View, browse, no_matches, show_view
from components.grid.cards import Mark
from components.grid.decision_log import Handler
from components.grid.grid import go_to, lead_to, show_cards
from components.grid.logged_decision import LoggedDecision
from components.grid.ordering import resembling
from components.grid.page_number import turning
from components.grid.results import (
    RESULT_VIEWS,
    ResultView,
    ShownRanking,
    chosen_calibration,
    chosen_fusion,
    chosen_held,
    chosen_view,
    chosen_weights,
    last_moved,
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
    "Handler",
    "LoggedDecision",
    "Mark",
    "ResultView",
    "ShownRanking",
    "View",
    "browse",
    "chosen_calibration",
    "chosen_fusion",
    "chosen_held",
    "chosen_view",
    "chosen_weights",
    "go_to",
    "last_moved",
    "lead_to",
    "no_matches",
    "resembling",
    "show_cards",
    "show_results",
    "show_view",
    "turning",
]
