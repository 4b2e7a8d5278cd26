"""One letter means one thing, wherever it is pressed."""

import re
from collections import Counter
from pathlib import Path

from components.grid import actions
from components.grid.actions import Action

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
