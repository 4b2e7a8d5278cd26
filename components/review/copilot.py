"""The co-pilot: what it promises, how far it may go, what it would decide now, and why."""

from dataclasses import replace

import streamlit as st

from components.review import rules
from components.shell import format
from components.shell.page import forms, live, places
from components.shell.page.forms import Button
from components.shell.session import presenter, safe_mode
from store import Library, MemedexError
from store.rules import copilot, preview, rule, running

_EXPLAINED = 3  # coins, the least sure of those that it would settle
_LEVELS = {"shown": "Shown", "one click": "One click", "by itself": "By itself"}
_WHAT = (
    "It learns from what people approved and rejected in this library, and says of new coins what they would "
    "decide. You say how many errors you bear; it says how much that settles. Nothing leaves this machine."
)


def show(library: Library) -> None:
    """Its standing, its settings and a preview; one button where it is off."""
    saved = copilot.its_rule(library)
    if saved is None:
        _off(library)
        return
    if saved.told:
        st.warning(f"Only shown: {format.plain(saved.told, limit=200)}.", icon=":material/trending_down:")
    draft = _draft(library, saved) if library.can_write else saved
    if draft is None:
        return
    live.follow_badges(library)
    standing = copilot.standing(library, draft)
    st.markdown(f"#### {format.plain(standing.sentence, limit=300)}")
    _learned(standing, is_behind=library.can_write and copilot.is_behind(library, saved))
    if standing.missing or (standing.promise and standing.promise.threshold is None):
        st.page_link(**places.SAMPLE, label="Decide a random sample")
    found = rules.previewed(library, draft)
    if library.can_write:
        rules.buttons(library, saved, draft, found)
    if standing.version is None:
        return
    _now(library, found, waiting=standing.waiting)
    _why(library, found)
    _measured(library, found)
    rules.runs(library, saved)


def _off(library: Library) -> None:
    st.write(_WHAT)
    standing = copilot.standing(library, copilot.usual())
    if standing.missing:
        st.caption(format.plain(standing.sentence, limit=300))
    if library.can_write:
        turned = forms.show(
            "copilot-on", library, lambda _: _turn_on(library), after_run=True,
            button=Button("Turn on", icon="flight_takeoff", kind="primary"),
        )  # fmt: skip
        if turned and copilot.its_rule(library):
            st.rerun()


def _turn_on(library: Library) -> str:
    running.save(library, copilot.usual())
    return "The co-pilot learns in the background."


def _draft(library: Library, saved: rule.Rule) -> rule.Rule | None:
    """Its rule as it is set; None, after what is wrong, if it cannot be."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        bears = st.number_input(
            "Errors to bear, %", 0.1, 20.0, saved.bears, 0.5, "%.1f", key="copilot-bears", width=150,
            help="Of the coins that it settles, so many may be wrong.",
        )  # fmt: skip
        reason = st.text_input("Rejects as", saved.reason, key="copilot-reason", width=160)
        level = st.segmented_control(
            "How far it may go", list(_LEVELS), default=saved.level, key="copilot-level",
            format_func=_LEVELS.__getitem__, required=True,
            help="One click: all coins that it is sure of, as one decision. By itself: as they come.",
        )  # fmt: skip
    when = st.text_input(
        "Only coins that this finds", saved.when, key="copilot-when", placeholder="all in review",
        help="A filter line.",
    )  # fmt: skip
    try:
        return rule.checked(
            {
                **rule.plain(saved), "promise": round(1 - bears / 100, 6), "level": level,
                "when": when.strip(), "reason": " ".join(reason.split()),
            }
        )  # fmt: skip
    except MemedexError as error:
        st.caption(f":orange[{format.plain(str(error), limit=300)}]")
        return None


def _learned(standing: copilot.Standing, *, is_behind: bool) -> None:
    """What it learned from, and what stands between it and more than being shown."""
    if standing.version is None:
        if not standing.missing:
            st.caption("It is learning; the page shows it when it is done.")
        return
    version = standing.version
    again = "It learns again as you decide, and keeps its versions."
    if is_behind:
        again = "It is learning again from what was decided since; the page shows it when it is done."
    decisions = format.counted(version.decisions, "decision")
    st.caption(f"Version {version.version} learned from {decisions}, {format.ago(version.at)}. {again}")
    if standing.obstacle:
        why = format.plain(standing.obstacle, limit=300)
        st.caption(f":material/visibility: Only shown yet: {why}.")


def _now(library: Library, found: preview.Preview, *, waiting: int) -> None:
    """The coins that it would decide now, of those that wait."""
    st.subheader(f"Now: {len(found.matches):,} of {format.counted(waiting, 'coin')}", anchor=False)
    for do, title in (("approve", "It would approve"), ("reject", "It would reject")):
        coins = [match.address for match in found.matches if match.do == do]
        if coins:
            st.caption(f"{title} {format.counted(len(coins), 'coin')}")
            rules.strip(library, coins)
    rules.meetings(found)
    st.page_link(**places.DOUBTFUL, label="Decide the most doubtful first: they teach it most")


def _why(library: Library, found: preview.Preview) -> None:
    """Why, of the coins that it is least sure of."""
    least = copilot.least_sure(library, [match.address for match in found.matches])[:_EXPLAINED]
    if not least or not st.toggle("Why, of those that it is least sure of", key="copilot-why"):
        return
    for address in least:
        why, record = copilot.why(library, address), safe_mode.shown(library, library.get(address))
        link = places.address(places.coin(address, "pending"))
        st.markdown(f"[{format.plain(record.name)}]({link}): {format.plain(why.sentence)}")
        st.caption(format.plain(" · ".join(why.signals), limit=400))
        if why.nearest:
            rules.strip(library, [one.address for one in why.nearest])
            them = ", ".join(f"{one.was} by {presenter.name(one.actor)}" for one in why.nearest)
            st.caption(f"Decided coins that look most like it: {format.plain(them)}")


def _measured(library: Library, found: preview.Preview) -> None:
    """What it had said where people decided without being told."""
    st.subheader("Measured on your decisions", anchor=False)
    rules.past(library, replace(found, limits=()), sentence=_compared(found))


def _compared(found: preview.Preview) -> str:
    back = sum(case.said == preview.BACK for case in found.cases)
    blind, settled = len(found.cases) - back, format.counted(found.settled, "coin")
    taken = f" You took back {back:,} of {settled} that it settled." if back else ""
    if not blind:
        return f"You have decided none yet of the coins that it would settle, since it learned.{taken}"
    return (
        f"Of {format.counted(blind, 'coin')} that it would have settled you decided "
        f"{len(found.agreements):,} as it would have, without being told what it says. Five in a hundred "
        f"always come to you so.{taken}"
    )
