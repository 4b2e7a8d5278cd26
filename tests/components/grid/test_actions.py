"""One letter means one thing, and a coin's tier says what can be done with it, on every page."""

import re
from collections import Counter
from pathlib import Path

from components.grid import actions
from components.grid.actions import APPROVE, LIKE, RESTORE, STYLE, Action, verbs

SCRIPTS = Path(actions.__file__).parent / "js"
MOVES = set("hjkl")


def test_every_key_has_one_meaning_on_all_pages() -> None:
    verbs = [one.key for one in vars(actions).values() if isinstance(one, Action)]
    verdicts = re.findall(r'^ {4}key: "(.)",$', (SCRIPTS / "comparison.js").read_text("utf-8"), re.MULTILINE)
    own = {"z", "d", "y"}  # undo, compare, why: components/grid/js/keys.js
    prefix = {"g"}  # goes to a place: components/shell/page/palette.js
    assert len(verdicts) == 3
    meanings = Counter([*verbs, *verdicts, *MOVES, *own, *prefix])
    assert {key for key, count in meanings.items() if count > 1} == set()


def test_a_page_offers_the_verbs_of_its_tiers_after_its_own() -> None:
    assert verbs("trash", also=[STYLE]) == [STYLE, RESTORE, LIKE]
    assert [action.verb for action in verbs("pending", "trash")].count("like") == 1
    assert "degrade" in {action.verb for action in verbs("library")}


def test_an_action_says_which_tiers_allow_it() -> None:
    assert APPROVE.as_json()["tiers"] == ["pending"]
    assert STYLE.as_json()["tiers"] == []  # every tier does
