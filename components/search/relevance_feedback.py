"""Judge results of a query good or bad with `g` and `b`; shown on the card."""

from collections.abc import Mapping
from dataclasses import dataclass

from components.grid import BAD, GOOD, Action, Handler, LoggedDecision, Mark
from store.errors import MemedexError
from store.library import Library
from store.outcome import Outcome
from store.search.golden_queries import checked_line
from store.search.query_syntax import Question, written

_MARKS: Mapping[bool, Mark] = {
    True: {"label": "good", "tone": "good"},
    False: {"label": "bad", "tone": "bad"},
}


@dataclass(frozen=True, slots=True)
class RelevanceFeedback:
    """The judgements of one query, and the actions to give them."""

    actions: list[Action]
    handlers: Mapping[str, Handler]
    marks: Mapping[str, Mark]  # by address


def judging(library: Library, question: Question) -> RelevanceFeedback:
    """Empty for a query that cannot be repeated, such as one with an uploaded picture."""
    try:
        line = checked_line(written(question))
    except MemedexError:
        return RelevanceFeedback([], {}, {})
    said = library.golden.relevance_of(line)
    marks = {address: _MARKS[good] for address, good in said.items()}

    def saying(good: bool) -> Handler:
        def say(entry: LoggedDecision) -> Outcome | None:
            now = library.golden.relevance_of(line)
            # Said of all of them already: the same key takes it back.
            taken_back = all(now.get(address) is good for address in entry.addresses)
            for address in entry.addresses:
                library.golden.judge(line, address, None if taken_back else good)
            return None

        return say

    return RelevanceFeedback([GOOD, BAD], {"good": saying(True), "bad": saying(False)}, marks)
