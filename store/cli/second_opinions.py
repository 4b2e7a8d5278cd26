"""Verbs for second opinions, `second-opinions VERB …`: decisions asked again, answers, disagreements."""

from dataclasses import asdict
from functools import partial
from typing import Annotated, Literal

from typer import Argument, Option

from store.cli.call import Call, spelled
from store.cli.terminal import plain
from store.cli.verbs import Addresses, app, chapter
from store.cli.verbs import verb as declare
from store.rules import second_opinions
from store.rules.past import Said

opinion_verbs = chapter("second-opinions", "Decisions that are asked again of another person.")
app.add_typer(opinion_verbs)
verb = partial(declare, of=opinion_verbs)

Says = Annotated[Literal["approve", "reject"], Argument(metavar="approve|reject")]
Reason = Annotated[str, Option(metavar="TEXT", help="why, for the history")]
_SAID: dict[str, Said] = {"approve": "approved", "reject": "rejected"}


@verb("share")
def share(
    call: Call, percent: Annotated[float, Argument(metavar="PERCENT", help="of decisions; 0 for none")]
) -> int:
    """Set how many decisions are asked again of another person."""
    with call.writing() as library:
        made = second_opinions.set_share(library, percent, actor=call.actor)
    return call.answered(asdict(made), [f"{made.percent:.3g} % of decisions are asked again"])


@verb("status")
def status(call: Call) -> int:
    """How many decisions are asked again, and how alike people decide."""
    with call.reading() as reader:
        percent = second_opinions.share(reader).percent
        waiting = len(second_opinions.drawn(reader))
        mine = len(second_opinions.asked(reader, call.actor))
        opinions = second_opinions.opinions(reader)
    found, contested = second_opinions.agreement(opinions), sum(one.is_open for one in opinions)
    rows = [
        f"{percent:.3g} % of decisions are asked again" if percent
        else "no decision is asked again; `second-opinions share 5` asks one in twenty",
        f"{waiting:,} wait for a second opinion, {mine:,} of them for yours",
        f"disagreements to settle: {contested:,}",
        found.whole.sentence,
    ]  # fmt: skip
    rows += [f"{one.of}: {one.sentence}" for one in (*found.people, *found.reasons, *found.months)]
    return call.answered(
        {"percent": percent, "waiting": waiting, "yours": mine, "contested": contested, **asdict(found)},
        [plain(row) for row in rows],
    )


@verb("next")
def following(call: Call, most: Annotated[int, Option(metavar="N", min=1, help="how many (1)")] = 1) -> int:
    """The coins that you are asked about next, without what was decided."""
    with call.reading() as reader:
        asked = [*second_opinions.asked(reader, call.actor).values()][:most]
        found = [second_opinions.as_decided(reader, one) for one in asked]
    return call.listed(
        [one.as_json() for one in found],
        ("ADDRESS", "TICKER", "NAME", "DESCRIPTION"),
        [(one.address, one.ticker, one.name, one.description) for one in found],
        empty="no coin waits for your second opinion",
    )


@verb("answer")
def answer(call: Call, says: Says, addresses: Addresses, reason: Reason = "") -> int:
    """Give your second opinion of coins; nothing moves by it."""
    return call.change(
        "answered",
        lambda library, _: second_opinions.answer(
            library, spelled(addresses), _SAID[says], reason=reason, actor=call.actor
        ),
    )


@verb("contested")
def contested(call: Call) -> int:
    """The coins on which two people disagree."""
    with call.reading() as reader:
        found = [one for one in second_opinions.opinions(reader) if one.is_open]
    return call.listed(
        [asdict(one) for one in found],
        ("ADDRESS", "NAME", "FIRST", "SECOND"),
        [(one.address, one.name, one.first.sentence, one.second.sentence) for one in found],
        empty="no disagreement is open",
    )


@verb("settle")
def settle(call: Call, says: Says, addresses: Addresses, reason: Reason = "") -> int:
    """Decide contested coins for good, as one decision."""
    return call.change(
        "settled",
        lambda library, _: second_opinions.settle(
            library, spelled(addresses), _SAID[says], reason=reason, actor=call.actor
        ),
    )
