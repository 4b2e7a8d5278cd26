"""Good and bad results of a question: what is said with `g` and `b`, and shown on the card."""

from collections.abc import Mapping
from dataclasses import dataclass

from components.grid import BAD, GOOD, Action, Entry, Handler, Mark
from store.errors import MemedexError
from store.library import Library
from store.outcome import Outcome
from store.search.golden import checked_line
from store.search.question import Question, written

_MARKS: Mapping[bool, Mark] = {
    True: {"label": "good", "tone": "good"},
    False: {"label": "bad", "tone": "bad"},
}


@dataclass(frozen=True, slots=True)
class Judging:
    """What can be said of one question's results, and what was said."""

    actions: list[Action]
    handlers: Mapping[str, Handler]
    marks: Mapping[str, Mark]  # by address


def judging(library: Library, question: Question) -> Judging:
    """Nothing of a question that cannot be asked again, such as one with a picture that was only shown."""
    try:
        line = checked_line(written(question))
    except MemedexError:
        return Judging([], {}, {})
    said = library.golden.judged(line)
    marks = {address: _MARKS[good] for address, good in said.items()}

    def saying(good: bool) -> Handler:
        def say(entry: Entry) -> Outcome | None:
            now = library.golden.judged(line)
            # Said of all of them already: the same key takes it back.
            taken_back = all(now.get(address) is good for address in entry.addresses)
            for address in entry.addresses:
                library.golden.judge(line, address, None if taken_back else good)
            return None

        return say

    return Judging([GOOD, BAD], {"good": saying(True), "bad": saying(False)}, marks)
