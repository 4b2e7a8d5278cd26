"""Decisions about coins and texts, and jobs, in one time line: filtered, exported, undone; deleted items."""

from collections.abc import Iterator, Sequence
from datetime import time, timedelta
from functools import partial
from heapq import merge
from itertools import islice
from math import inf

import streamlit as st

from components.activity import jobs
from components.memory import open_memory
from components.memory.kinds import KINDS
from components.shell import format
from components.shell.page import forms, local_time, streamlit_style, tables, thumbnails
from components.shell.page import undo as shell_undo
from components.shell.page.forms import Button
from components.shell.page.undo import AT_ONCE, Reversal, sentence
from components.shell.session import presenter
from store import DeletedItem, Job, Library, Memory, Outcome, PastDecision
from store.catalog import history
from store.reading import audit
from store.tasks import undo as undo_task

_PER_PAGE = 25  # each with a form of its own, ten milliseconds of the browser
_EVERYBODY, _EVERYTHING, JOBS = "Everybody", "Everything", "Jobs"
_DELETED = 50


def last_decision(library: Library) -> Sequence[Reversal]:
    """The person's last decision about coins or texts, to undo, and their last undo since, to redo."""
    found = [*shell_undo.last_decision(library), *shell_undo.last_undo(library)]
    if open_memory.is_there():
        found += open_memory.last_decision(library)
    by_time = sorted(found, key=lambda one: one.at)
    made, undone = ([one for one in by_time if one.key == key] for key in ("z", "Z"))
    return [made[-1], *(one for one in undone[-1:] if one.at > made[-1].at)]


def controls(library: Library, memory: Memory | None) -> history.AuditFilter:
    """Draw the filter, whose values are in the page's address, and what can be done to all; returns it."""
    logs = [library.log, *([memory.log] if memory else [])]
    people = sorted({name for log in logs for name in log.people()})
    verbs = sorted({name for log in logs for name in log.verbs()})
    with st.container(horizontal=True, gap="small"):
        actor = st.selectbox(
            "Who", [_EVERYBODY, *people], key="history_who", bind="query-params", width=170,
            format_func=lambda one: one if one == _EVERYBODY else presenter.name(one),
            label_visibility="collapsed",
        )  # fmt: skip
        verb = st.selectbox(
            "What", [_EVERYTHING, JOBS, *verbs], key="history_what", bind="query-params", width=170,
            label_visibility="collapsed",
        )  # fmt: skip
        days = [st.query_params[name] for name in ("history_from", "history_to") if name in st.query_params]
        with st.popover(" … ".join(days) or "Any time", icon=":material/calendar_today:", key="history_when"):
            first = st.date_input("From", value=None, key="history_from", bind="query-params")
            last = st.date_input("To", value=None, key="history_to", bind="query-params")
        filter = history.AuditFilter(
            actor="" if actor == _EVERYBODY else actor,
            verb="" if verb == _EVERYTHING else verb,
            since=local_time.midnight(first) if first else None,
            until=local_time.midnight(last + timedelta(days=1)) if last else None,
        )
        st.download_button(
            "CSV",
            lambda: audit.as_csv(library, filter, others=csv_lines(memory, filter)),
            "history.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        if library.can_write:
            with st.popover("Undo since …", icon=":material/history:"):
                _since(library, memory, filter)
    return filter


def csv_lines(memory: Memory | None, filter: history.AuditFilter) -> Iterator[tuple[str, ...]]:
    """The lines of the CSV for decisions about texts, newest first."""
    for decision in memory.log.find(filter, limit=-1) if memory else []:
        yield audit.line_of(decision, what=open_memory.texts_of(decision))


def _since(library: Library, memory: Memory | None, filter: history.AuditFilter) -> None:
    now = local_time.now()
    day = st.date_input("Day", value=now.date(), key="history-since-day")
    hour = st.time_input(f"Time ({local_time.zone_name()})", value=time(now.hour), key="history-since-time")
    if day is None or hour is None:
        return
    at = local_time.at(day, hour)
    coins = library.log.since(at, filter=filter)
    texts = memory.log.since(at, filter=filter) if memory and memory.can_write else []
    whose = f" of {format.plain(presenter.name(filter.actor))}" if filter.actor else ""
    what = f" ({format.done(filter.verb)})" if filter.verb else ""
    st.markdown(f"{format.counted(len(coins) + len(texts), 'decision')}{whose}{what} since then")
    forms.show(
        "undo-since", library, partial(_undo_all, library, memory, coins, texts),
        button=Button("Undo them", kind="primary", disabled=not coins and not texts),
    )  # fmt: skip


def table(library: Library, memory: Memory | None, filter: history.AuditFilter) -> None:
    """Finished jobs, and the decisions about coins and texts, newest first, each with an undo button."""
    finished = _finished(library, filter)
    total = len(finished)
    if filter.verb != JOBS:
        total += library.log.count(filter) + (memory.log.count(filter) if memory else 0)
    if not total:
        st.info("Nothing in this time line. Clear its filters.", icon=":material/search_off:")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        what = "decision or job", "decisions and jobs"
        st.caption(f"{format.counted(total, *what)} · times in {local_time.zone_name()}")
        page = tables.page_number(
            total, _PER_PAGE, key="history_page", bind="query-params", max_visible_pages=5
        )
    for one in _page(library, memory, filter, finished, page - 1):
        if isinstance(one, Job):
            jobs.line(library, one)
        else:
            _line(library, memory, one)


def _finished(library: Library, filter: history.AuditFilter) -> list[Job]:
    """The finished jobs that match, newest first; none if the filter names what was decided."""
    if filter.verb not in ("", JOBS):
        return []
    opened = {job.id for job in library.jobs.open()}
    found = [job for job in library.jobs.all() if job.id not in opened and filter.actor in ("", job.actor)]
    since, until = filter.since or 0.0, filter.until or inf
    return sorted((job for job in found if since <= _moment(job) < until), key=_moment, reverse=True)


def _moment(one: PastDecision | Job) -> float:
    return (one.ended_at or one.made_at) if isinstance(one, Job) else one.created_at


def _page(
    library: Library, memory: Memory | None, filter: history.AuditFilter, finished: Sequence[Job], number: int
) -> list[PastDecision | Job]:
    end = (number + 1) * _PER_PAGE
    is_decided = filter.verb != JOBS
    coins = library.log.find(filter, limit=end) if is_decided else []
    texts = memory.log.find(filter, limit=end) if memory and is_decided else []
    sorted_kinds: tuple[Sequence[PastDecision | Job], ...] = (coins, texts, finished)
    newest_first = merge(*sorted_kinds, key=lambda one: -_moment(one))
    return list(islice(newest_first, end - _PER_PAGE, end))


def _line(library: Library, memory: Memory | None, decision: PastDecision) -> None:
    of_texts = memory if decision.kinds is not None else None
    words = open_memory.sentence(of_texts, decision) if of_texts else sentence(library, decision)
    words = words[:1].upper() + words[1:]
    key = f"{streamlit_style.DECISION}-{decision.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        if of_texts:
            with st.container(width=thumbnails.WIDTH):
                st.markdown(" ".join(KINDS[kind].icon for kind in open_memory.kinds_of(decision)))
        else:
            events = library.history(decision=decision.id, limit=thumbnails.SHOWN)
            thumbnails.row(library, [event.address for event in events])
        with st.container(width=150, gap=None):  # one above the other: the row is as high as its button
            st.text(
                presenter.name(decision.actor) + (" (you)" if decision.actor == library.actor_name else "")
            )
            st.caption(local_time.text(decision.created_at, "%Y-%m-%d %H:%M:%S"))
        st.markdown(f":gray[~~{words}~~]" if decision.is_undone else words, width="stretch")
        if library.can_write and not (decision.is_undone or decision.is_final):
            label = "Undo" if decision.verb != "undo" else "Redo"
            undo = (
                partial(_undo_text, of_texts, decision.id) if of_texts
                else partial(shell_undo.one, library, decision.id)
            )  # fmt: skip
            forms.show(
                f"take-back-{decision.id}", library, undo,
                button=Button(label, icon=label.lower(), kind="tertiary"),
            )  # fmt: skip


def _undo_text(memory: Memory, chosen: str, sent: forms.Sent) -> str:
    outcome = memory.undo_decisions([chosen], decision=sent.decision)
    return shell_undo.said(outcome, "Done." if outcome.done else "")


def _undo_all(
    library: Library, memory: Memory | None, coins: list[str], texts: list[str], sent: forms.Sent
) -> str:
    done, what = Outcome(), list[str]()
    if memory:
        done.add(memory.undo_decisions(texts))
    if done.done:
        what.append(format.counted(len({*done.done}), "text"))
    if coins and not undo_task.start(library, coins, at_once=AT_ONCE, decision=sent.decision):
        of_coins = library.undo_decisions(coins, decision=sent.decision if len(coins) == 1 else None)
        done.add(of_coins)
        if of_coins.done:
            what.append(format.counted(len({*of_coins.done}), "coin"))
    return shell_undo.said(done, f"Undone for {' and '.join(what)}." if what else "")


def deleted_items(library: Library) -> None:
    """Who deleted what, and when, newest first; nothing if there is none."""
    found = library.removed.all(limit=_DELETED)
    if not found:
        return
    with st.expander(f"Removed searches, filters, golden queries and jobs ({len(found)})"):
        for one in found:
            _deleted_item(library, one)


def _deleted_item(library: Library, one: DeletedItem) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(one.what, color="gray")
        st.text(one.name, width="stretch")
        actor = presenter.name(one.actor) or "removed to make room"
        st.caption(f"{format.plain(actor)} · {format.ago(one.removed_at)}", width="content")
        if one.restored_at:
            st.caption(f"restored by {format.plain(presenter.name(one.restored_by))}", width="content")
        elif library.can_write and library.removed.can_restore(one):
            forms.button(
                f"put-back-{one.id}", library, partial(library.removed.restore, one.id),
                button=Button("Restore", icon="restore"), message=f"{one.what.capitalize()} restored.",
            )  # fmt: skip
