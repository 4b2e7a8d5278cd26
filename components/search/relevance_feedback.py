"""Judge results of a query good or bad with `g` and `b`; shown on the card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.grid import BAD, GOOD, Action, Handler, Mark
from store import Library, MemedexError
from store.search import Question, checked_line, query_syntax

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
        line = checked_line(query_syntax.written(question))
    except MemedexError:
        return RelevanceFeedback([], {}, {})
    marks_by_address = library.golden.relevance_of(line)
    marks = {address: _MARKS[good] for address, good in marks_by_address.items()}

    def handler(good: bool) -> Handler:
        def handle(chosen: Sequence[str]) -> None:
            now = library.golden.relevance_of(line)
            # All of them have this mark already: the same key removes it.
            taken_back = all(now.get(address) is good for address in chosen)
            for address in chosen:
                library.golden.judge(line, address, None if taken_back else good)

        return handle

    return RelevanceFeedback([GOOD, BAD], {"good": handler(True), "bad": handler(False)}, marks)
