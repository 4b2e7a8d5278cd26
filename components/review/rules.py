"""Rules as sentences that can be edited, each with what it would do now and would have done."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from components.grid.cards import Mark
from components.shell import format
from components.shell.page import forms, job_bar, places, undo, views
from components.shell.page.forms import Button
from components.shell.server import pictures
from components.shell.session import presenter, safe_mode
from store import Library, LruCache, MemedexError, Record
from store.rules import keeping, preview, rule, running

_SHOWN = 24  # coins as pictures; the number says how many there are
_NAMED = 20  # contradictions
_RUNS = 5
_SIDE = 48  # px
_DOES: Mapping[rule.Act, str] = {
    "reject": "Reject",
    "approve": "Approve",
    "tag": "Tag",
    "keep": "Keep, reject the other",
    "hold": "Hold for a second look",
}
_OTHERS: Mapping[str, str] = {
    "": "(no comparison)",
    "older": "is older",
    "approved before": "was approved before",
    "larger": "has the larger market value",
    "more holders": "has more holders",
    "younger": "is younger",
    "not approved before": "was not approved before it",
    "smaller": "has the smaller market value",
    "fewer holders": "has fewer holders",
}
_LEVELS: Mapping[str, str] = {"shown": "Shown", "one click": "One click", "by itself": "By itself"}
_EXAMPLES = (
    rule.Rule("Copies", "reject", other="approved before", reason="copycat"),
    rule.Rule("Younger twins", "reject", when="dup:exact", other="older", reason="duplicate"),
    rule.Rule("Nothing to see", "reject", when="faults:blank", reason="no picture"),
    rule.Rule("Names of others", "hold", when="dup:name", other="approved before"),
)
_previews: LruCache[tuple[object, ...], preview.Preview] = LruCache(16)


def show(library: Library) -> None:
    """The rules by name; the chosen one in an editor, with its preview below."""
    saved = {name: one for name, one in library.rules.all().items() if one.do != "judge"}
    names = [*saved, *([rule.NEW] if library.can_write or not saved else [])]
    chosen = views.choose(names, parameter="rule", label="Rules")
    before = saved.get(chosen)
    if before and before.told:
        st.warning(f"Only shown: {format.plain(before.told, limit=200)}.", icon=":material/trending_down:")
    draft = _draft(library, before, f"rule-{chosen}-") if library.can_write else before
    if draft is None:
        return
    st.markdown(f"**{format.plain(draft.sentence, limit=400)}**")
    found = previewed(library, draft)
    if library.can_write:
        buttons(library, before, draft, found)
    _now(library, found)
    st.subheader(f"The last {found.days} days", anchor=False)
    past(library, found, sentence=found.sentence)
    if before:
        runs(library, before)


def _draft(library: Library, before: rule.Rule | None, key: str) -> rule.Rule | None:
    """The rule as it is typed; None, after what is missing, if it is none yet."""
    typed = _typed(before or rule.Rule("", "reject"), key)
    kept = {"saved_by": before.saved_by, "saved_at": before.saved_at, "told": before.told} if before else {}
    try:
        return rule.checked({"saved_by": library.actor_name, **typed, **kept})
    except MemedexError as error:
        if typed["name"]:
            st.caption(f":orange[{format.plain(str(error), limit=300)}]")
        else:
            st.caption(
                "Name it and say which coins it means: what it would do is shown at once. For example:"
            )
            for example in _EXAMPLES:
                st.button(example.sentence, on_click=_take, args=(example, key))
        return None


def _take(example: rule.Rule, key: str) -> None:
    """Fill the fields of a new rule; nothing is saved."""
    for field in ("name", "when", "other", "do", "reason"):
        st.session_state[f"{key}{field}"] = getattr(example, field)


def marks(
    library: Library, records: Sequence[Record], other: Callable[[Record], Mark | None]
) -> Callable[[Record], Mark | None]:
    """What the rules would do with each of these coins, where it has no other mark."""
    found = running.suggestions(library, [record.address for record in records])

    def mark(record: Record) -> Mark | None:
        name, do = found.get(record.address, ("", ""))
        said: Mark = {"label": f"{format.cut(name, limit=24)}: {do}", "tone": "quiet"}
        return other(record) or (said if name else None)

    return mark


def _typed(shown: rule.Rule, key: str) -> dict[str, Any]:
    """The fields as they are typed."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.text_input("Name", shown.name, key=f"{key}name", width=180)
        when = st.text_input(
            "If this finds a coin", shown.when, key=f"{key}when", placeholder="dup:mirrored, faults:blank …",
            help="A filter line. Without tier: it means coins in review.",
        )  # fmt: skip
        other = st.selectbox(
            "and a coin like it", list(_OTHERS), list(_OTHERS).index(shown.other), key=f"{key}other",
            format_func=_OTHERS.__getitem__, width=230,
        )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        do = st.selectbox(
            "then", list(_DOES), list(_DOES).index(shown.do), key=f"{key}do", format_func=_DOES.__getitem__,
            width=230,
        )  # fmt: skip
        reason, tags = shown.reason, list(shown.tags)
        if do == "reject":
            reason = st.text_input("as", shown.reason, key=f"{key}reason", placeholder="copycat")
        elif do == "tag":
            typed = st.text_input("with", ", ".join(tags), key=f"{key}tags", placeholder="dog, moon")
            tags = [tag.strip() for tag in typed.split(",") if tag.strip()]
        level = st.segmented_control(
            "How far it may go", list(_LEVELS), default=shown.level, key=f"{key}level",
            format_func=_LEVELS.__getitem__, required=True,
        )  # fmt: skip
    with st.expander("Promise, priority, exceptions"):
        with st.container(horizontal=True, gap="small"):
            promise = st.number_input(
                "Promise, %", 0.0, 100.0, round(100 * shown.promise, 3), 1.0, key=f"{key}promise",
                help="Agreement with people, below which it is only shown.",
            )  # fmt: skip
            sure = st.number_input(
                "Coins are alike from, %", 0.0, 100.0, round(100 * shown.sure, 3), 1.0, key=f"{key}sure"
            )
            priority = st.number_input(
                "Priority", -1000, 1000, shown.priority, key=f"{key}priority",
                help="Where rules meet, the higher one has the coin.",
            )  # fmt: skip
        exceptions = st.text_area(
            "Exceptions", "\n".join(shown.exceptions), key=f"{key}exceptions", height=68,
            help="Addresses of coins that it leaves alone, one a line.",
        )  # fmt: skip
    return {
        "name": name, "do": do, "when": when.strip(), "other": other, "sure": sure / 100,
        "reason": " ".join(reason.split()), "tags": tags, "level": level, "priority": int(priority),
        "exceptions": exceptions.split(), "promise": promise / 100,
    }  # fmt: skip


def previewed(library: Library, draft: rule.Rule) -> preview.Preview:
    """Kept until the library, or another rule, changes."""
    others = tuple(library.rules.all().values())
    key = (library.id, library.generation, library.derived, draft, others)
    found = _previews.get(key)
    if found is None:
        with st.spinner("Going through what people decided …"):
            found = _previews[key] = preview.preview(library, draft)
    return found


def buttons(library: Library, before: rule.Rule | None, draft: rule.Rule, found: preview.Preview) -> None:
    count = len(found.matches)
    does = _DOES.get(draft.do, "Decide").partition(",")[0]
    is_saved = before == draft
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if not is_saved:
            saved = forms.show(
                "rule-save", library, partial(_save, library, draft, before), after_run=True,
                button=Button("Save", icon="save", kind="primary"),
            )  # fmt: skip
        elif draft.level != "shown":
            forms.show(
                "rule-run", library, job_bar.starting(partial(running.start, library, draft.name)),
                button=Button(
                    f"{does}: {format.counted(count, 'coin')}", icon="bolt",
                    kind="primary", disabled=not count, help="" if count else "It means no coin now.",
                ),
            )  # fmt: skip
        if before:
            forms.button(
                "rule-delete", library, partial(library.rules.delete, before.name),
                button=Button(
                    "Turn off" if draft.do == "judge" else "Delete", icon="delete", kind="tertiary"
                ),
                message="Deleted; Activity restores it.",
            )  # fmt: skip
            who = format.plain(presenter.name(before.saved_by))
            st.caption(f"Saved by {who}, {format.ago(before.saved_at)}", width="content")
    if not is_saved and saved and draft.name in library.rules.all():
        if draft.do != "judge":
            views.turn_to(draft.name, parameter="rule")
        st.rerun()


def _save(library: Library, draft: rule.Rule, before: rule.Rule | None, _: forms.Sent) -> str:
    if before and before.name != draft.name:
        library.rules.delete(before.name)
    running.save(library, draft)
    return f"{draft.name} is saved."


def _now(library: Library, found: preview.Preview) -> None:
    """The coins that it means now, and the rules that it meets."""
    count = len(found.matches)
    st.subheader(f"Now: {format.counted(count, 'coin')}", anchor=False)
    strip(library, [match.address for match in found.matches])
    if found.rule.do == "keep":
        st.markdown("\n".join(f"- {line}" for line in _kept(library, found)))
    meetings(found)


def _kept(library: Library, found: preview.Preview) -> Iterable[str]:
    """What each coin that is kept would get, and in place of which others, as Markdown."""
    for match in found.matches[:_NAMED]:
        kept, others = library.get(match.address), library.records(match.others)
        named = [format.plain(safe_mode.shown(library, one).name) for one in (kept, *others)]
        gain = format.plain(keeping.gain_in_words(kept, others) or "nothing new", limit=200)
        yield f"{named[0]} gets {gain}, in place of {', '.join(named[1:])}"


def meetings(found: preview.Preview) -> None:
    """The rules that it meets, and who has the coins."""
    for met in found.meetings:
        coins, name = format.counted(len(met.coins), "coin"), format.plain(met.rule)
        if met.goes_first:
            st.caption(f"{name} has {coins} of them: its priority is higher.")
        elif met.is_open:
            st.caption(f":orange[{name} says otherwise of {coins}. People have them until one has priority.]")
        else:
            st.caption(f"{name} means {coins} of them as well.")


def past(library: Library, found: preview.Preview, *, sentence: str) -> None:
    """What people decided about the coins that it would have settled."""
    st.write(format.plain(sentence, limit=400))
    if found.contradictions:
        there = {one.address: one for one in library.records([case.address for case in found.contradictions])}
        lines = []
        for case in found.contradictions[:_NAMED]:
            if record := there.get(case.address):
                shown = safe_mode.shown(library, record)
                link = places.address(places.coin(record.address, record.tier))
                who = format.plain(presenter.name(case.actor))
                lines.append(
                    f"- [{format.plain(shown.name)}]({link}) {case.said} by {who}, {format.ago(case.at)}"
                )
        st.markdown("\n".join(lines))
    if found.agreements:
        with st.expander(f"As people did: {format.counted(len(found.agreements), 'coin')}"):
            strip(library, [case.address for case in found.agreements])
    for said in found.limits:
        st.caption(said)


def runs(library: Library, saved: rule.Rule) -> None:
    """Its last runs, each with what takes it back, whoever began it."""
    rows = [(run, library.decision(run.decision)) for run in running.runs(library, saved.name)[:_RUNS]]
    if any(decided for _, decided in rows):
        st.subheader("Runs", anchor=False)
    for run, decided in rows:
        if decided is None:  # it has not begun, or nothing was left to do
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            who = "by itself" if run.actor == saved.actor else f"by {format.plain(presenter.name(run.actor))}"
            coins = format.counted(decided.count, "coin")
            st.markdown(f"{coins} {who}, {format.ago(run.at)}", width="content")
            if decided.is_undone:
                st.caption("undone", width="content")
            elif library.can_write:
                forms.show(
                    f"rule-undo-{run.decision}", library, partial(undo.one, library, run.decision),
                    button=Button("Undo this run", icon="undo", kind="tertiary"),
                )  # fmt: skip


def strip(library: Library, addresses: Iterable[str]) -> None:
    """Pictures of these coins, each a link to its panel; of many the first."""
    links = []
    for record in library.records([*addresses][:_SHOWN]):
        name = escape(safe_mode.shown(library, record).name)
        source = escape(pictures.address(library, record.image_hash, size=pictures.TINY))
        link = escape(places.address(places.coin(record.address, record.tier)))
        links.append(
            f'<a href="{link}" target="_self" title="{name}"><img src="{source}" alt="{name}" loading="lazy" '
            f'width="{_SIDE}" height="{_SIDE}" style="border-radius:50%;object-fit:cover"></a>'
        )
    if links:
        st.html(f'<div style="display:flex;flex-wrap:wrap;gap:6px">{"".join(links)}</div>')
