"""Second opinions: what one is asked about again, where people disagree, and how alike they decide."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from components.grid.actions import REJECT, Action
from components.grid.cards import Mark
from components.grid.grid import show_cards, tools_place
from components.review.verbs import ELSEWHERE
from components.shell import format
from components.shell.page import forms, live, tables, views
from components.shell.page.forms import Button, Field
from components.shell.page.streamlit_style import BAR
from components.shell.session import presenter
from store import Library, Record
from store.rules import second_opinions

_ASKED, _CONTESTED, _AGREEMENT = "For you", "Disagreements", "Agreement"
_PER_PAGE = 24  # cards; more come as these are answered
_ANSWERS = (
    Action("second approve", "Approve", "a", "good", message="Second opinion: approve", glyph="✓"),
    Action(
        "second reject", "Reject", "r", "bad", message="Second opinion: reject", reasons=REJECT.reasons,
        glyph="✕",
    ),
)  # fmt: skip
_SETTLES = (
    Action("settle approve", "Approve", "a", "good", message="Settled as approved:", glyph="✓"),
    Action(
        "settle reject", "Reject", "r", "bad", message="Settled as rejected:", reasons=REJECT.reasons,
        glyph="✕",
    ),
)  # fmt: skip
_WHAT = (
    "A share of what people approve and reject is asked again of another person, who is not told what was "
    "decided or by whom. It shows how alike people decide, and where a rule has to be made clearer. Nothing "
    "moves before a disagreement is settled."
)


def show(library: Library) -> None:
    """What waits for this person, disagreements to settle, and the figures."""
    live.follow(library)
    asked = [*second_opinions.asked(library).values()]
    found = second_opinions.opinions(library)
    contested = [one for one in found if one.is_open]
    counts = {_ASKED: len(asked), _CONTESTED: len(contested), _AGREEMENT: len(found)}
    with st.container(key=BAR, horizontal=True, vertical_alignment="center", gap="small"):
        view = views.choose([*counts], parameter="opinions", counts=counts, label="Second opinions")
        tools_place()
    if view == _AGREEMENT:
        _share(library)
        _figures(second_opinions.agreement(found))
    elif view == _CONTESTED:
        _contested(library, contested)
    else:
        cards = [second_opinions.as_decided(library, one) for one in asked[:_PER_PAGE]]
        if second_opinions.share(library).percent:  # without cards as well: the last answer can be undone
            _cards("second", library, cards, _ANSWERS, of=len(asked))
        if not asked:
            _nobody_asks(library)


def _cards(
    key: str,
    library: Library,
    records: Sequence[Record],
    actions: Sequence[Action],
    *,
    of: int,
    mark: Callable[[Record], Mark | None] = lambda _: None,
) -> None:
    show_cards(
        key, library, records, actions=actions, handlers=ELSEWHERE, mark=mark, order=key,
        counted=f"{format.counted(of, 'coin')}, {len(records):,} shown" if of > len(records) else "",
    )  # fmt: skip


def _nobody_asks(library: Library) -> None:
    """Why no coin waits for this person, and what to do."""
    if not second_opinions.share(library).percent:
        st.info(_WHAT, icon=":material/visibility:")
        _share(library)
    elif drawn := len(second_opinions.drawn(library)):
        waits = f"{format.counted(drawn, 'coin')} {'waits' if drawn == 1 else 'wait'}"
        st.info(
            f"{waits} for a second person, since you decided. Share the dashboard so that another "
            "person logs in.",
            icon=":material/group_add:",
        )
    else:
        st.success("No coin waits for a second opinion.", icon=":material/check_circle:")


def _contested(library: Library, contested: Sequence[second_opinions.Opinion]) -> None:
    """The coins on which two people disagree, each with what both said."""
    both = {one.address: one for one in contested[:_PER_PAGE]}

    def mark(record: Record) -> Mark:
        one = both[record.address]
        return {"label": f"{_said(one.first)} | {_said(one.second)}", "tone": "warn"}

    records = [record for record in library.records([*both]) if record.address in both]
    _cards("contested", library, records, _SETTLES, of=len(contested), mark=mark)
    if not contested:
        st.success("No disagreement is open.", icon=":material/check_circle:")


def _said(answer: second_opinions.Answer) -> str:
    """Such as "Ann: copycat", without how she logged in."""
    return f"{presenter.name(answer.actor).partition(' (')[0]}: {answer.reason or answer.said}"


def _share(library: Library) -> None:
    """The share of decisions that is asked again, and who set it."""
    share = second_opinions.share(library)
    forms.show(
        "second-share", library, partial(_set_share, library), row=True,
        fields=[
            Field("percent", "Decisions asked again, %", "number", value=share.percent or 5.0, most=100.0)
        ],
        button=Button("Save" if share.percent else "Turn on", kind="primary"),
    )  # fmt: skip
    if share.actor:
        who = format.plain(presenter.name(share.actor))
        st.caption(f"{share.percent:.3g} %, set by {who}, {format.ago(share.at)}. 0 turns it off.")


def _set_share(library: Library, sent: forms.Sent) -> str:
    share = second_opinions.set_share(library, sent["percent"])
    if not share.percent:
        return "No decision is asked again. What people said is kept."
    return f"{share.percent:.3g} % of decisions are asked again."


def _figures(found: second_opinions.Agreements) -> None:
    """How alike people decide: of all, by pair, reason and month."""
    if not found.whole.opinions:
        st.caption("Figures appear with the first second opinion.")
        return
    st.markdown(f"#### {format.capital(found.whole.sentence)}")
    st.caption(
        "Alpha is 1 where people decide alike, 0 where they do as chance would (Krippendorff): from 0.8 a "
        "decision can be relied on, below 0.67 hardly. In brackets the 95 % interval."
    )
    for title, rows in (
        ("By people", found.people), ("By reason", found.reasons), ("By month", found.months),
    ):  # fmt: skip
        if rows:
            st.subheader(title, anchor=False)
            tables.show(map(_row, rows), alt=f"How alike people decide, {title.lower()}")


def _row(one: second_opinions.Agreement) -> dict[str, str | int | None]:
    of = " · ".join(map(presenter.name, one.of.split(" · "))) if " · " in one.of else one.of
    figure = "" if one.alpha is None or one.interval is None else (
        f"{one.alpha:.2f} ({one.interval[0]:.2f} to {one.interval[1]:.2f})"
    )  # fmt: skip
    return {
        "Of": of,
        "Second opinions": one.opinions,
        "Alike": f"{one.share:.0%}",
        "Alpha": figure or (f"{one.missing:,} more needed" if one.missing else "all alike"),
    }
