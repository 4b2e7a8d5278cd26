"""Prompts: read, edit, compare versions, and try them on a few coins before a run, side by side."""

import difflib
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.captions import draft
from components.shell import format
from components.shell.page import forms, job_bar, thumbnails
from components.shell.page.forms import Button, Field
from components.shell.server import current_state
from components.shell.session import presenter, safe_mode
from store import Filter, Job, Library, MemedexError
from store.captioning import DEFAULT_PROMPT, Prompt, Suggestion
from store.records import CAPTION_FACETS, Tier
from store.settings import settings
from store.tasks import draft as draft_task

_TRIED = "memedex.trial"
_SAVED = "memedex.saved_prompts"
_VARIABLES = (
    "`{name}`  `{ticker}`  `{description}`  `{tags}` the coin's own  `{taxonomy}` the tags to choose from"
)


def show(library: Library) -> None:
    """The prompts on one tab, trials on another."""
    st.header("Prompts", anchor=False)
    edit, attempt = st.tabs(["Edit", "Try on a few coins"])
    with edit:
        _edit(library)
    with attempt:
        _attempt(library)


def _edit(library: Library) -> None:
    if saved := st.session_state.get(_SAVED):  # what a form has saved is the one to see
        st.session_state["prompt-name"] = saved.pop()
    name = st.selectbox(
        "Prompt", library.prompts.names(), key="prompt-name", label_visibility="collapsed", width=320,
        format_func=lambda name: library.prompts.get(name).label,
    )  # fmt: skip
    try:
        prompt = library.prompts.get(name or DEFAULT_PROMPT)
    except MemedexError as error:
        st.error("This prompt cannot be read:", icon=":material/error:")
        st.text(str(error))
        return
    st.caption(f"Variables: {_VARIABLES}")
    if library.can_write:
        _save_forms(library, prompt)
    else:
        st.text(prompt.text)
    _versions(library, prompt)


def _save_forms(library: Library, prompt: Prompt) -> None:
    """The text to change, under this name or another."""
    saved: list[str] = st.session_state.setdefault(_SAVED, [])
    forms.show(
        f"prompt-{prompt.name}", library, partial(_save, library, saved),
        button=Button("Save", icon="save", kind="primary"),
        fields=[
            Field("text", "Text", "text", value=prompt.text, height=360, is_labelled=False),
            Field(
                "name", "Name", value=prompt.name, placeholder="short and dry",
                help="With this name it is saved as a new version; another name makes another prompt.",
            ),
        ],
    )  # fmt: skip


def _save(library: Library, saved: list[str], given: Mapping[str, Any]) -> str:
    prompt = library.prompts.save(given["name"].strip().lower(), given["text"])
    saved.append(prompt.name)
    return f"Saved as {format.plain(prompt.label)}."


def _described(prompt: Prompt) -> str:
    return f"{prompt.label} · {presenter.name(prompt.actor)} · {format.ago(prompt.created_at)}"


def _versions(library: Library, prompt: Prompt) -> None:
    older = [one for one in library.prompts.versions(prompt.name) if one.version != prompt.version]
    if not older:
        return
    with st.expander(f"Earlier versions ({len(older):,})"):
        chosen = st.selectbox(
            "Version", older, key=f"version-{prompt.name}", label_visibility="collapsed", width=320,
            format_func=_described,
        )  # fmt: skip
        if chosen is None:
            return
        lines = difflib.unified_diff(
            chosen.text.splitlines(), prompt.text.splitlines(), chosen.label, prompt.label, lineterm="", n=1
        )
        st.code("\n".join(lines) or "The same text.", language="diff", wrap_lines=True)
        if library.can_write:
            forms.show(
                f"back-{chosen.label}", library, partial(_restore, library, chosen),
                button=Button(f"Restore {chosen.label}", icon="restore"),
            )  # fmt: skip


def _restore(library: Library, chosen: Prompt, _: Mapping[str, Any]) -> str:
    saved = library.prompts.save(chosen.name, chosen.text)
    return f"{format.plain(chosen.label)} is back as {format.plain(saved.label)}."


def _attempt(library: Library) -> None:
    tried: tuple[Tier, ...] = ("approved", "library")
    found = [record for tier in tried for record in library.find(Filter(tier=tier), limit=200)]
    unfit = library.unfit.pictures()
    names = {record.address: safe_mode.shown(library, record, unfit=unfit).name for record in found}
    if not names:
        st.caption("There is no approved coin to try a prompt on yet.")
        return
    if library.can_write:
        coins = st.multiselect(
            "Coins", list(names), default=list(names)[:3], max_selections=draft_task.TRIAL, key="trial-coins",
            format_func=lambda address: names[address],
        )  # fmt: skip
        left, right = st.columns(2, gap="medium")
        with left:
            first = draft.how(library, key="trial-a")
        with right:
            second = draft.how(library, key="trial-b", prompt=library.prompts.names()[-1])
        variants = list(dict.fromkeys(pair for pair in (first, second) if pair[0]))
        _try_button(library, coins, variants)
    job = _last(library)
    if job is not None:
        _results(library, job)


def _try_button(library: Library, coins: list[str], variants: list[tuple[str, str]]) -> None:
    try:
        is_whole = coins and variants and draft.is_priced(library, key="trial")
        plan = draft_task.plan_trial(library, coins, variants) if is_whole else None
    except MemedexError as error:
        st.error("This cannot be tried:", icon=":material/error:")
        st.text(str(error))
        return
    if plan:
        draft.figures(plan)
    begin = partial(draft_task.start, library, plan) if plan else lambda **_: None
    forms.show(
        "trial", library, job_bar.starting(begin, _TRIED), after_run=True,
        button=Button(
            "Try both, side by side" if len(variants) > 1 else "Try it", icon="experiment",
            disabled=plan is None, help="" if settings().caption_model or variants else "Name a model first.",
        ),
    )  # fmt: skip


def _last(library: Library) -> Job | None:
    tried = job_bar.begun(library.jobs, _TRIED)
    return tried or next((job for job in library.jobs.all() if job.options.get("trial")), None)


def _results(library: Library, job: Job) -> None:
    """One row for each coin: its picture, and the result of each model and prompt."""
    found: dict[str, dict[tuple[str, str], list[Suggestion]]] = {}
    for one in library.suggestions.of_job(job.id):
        found.setdefault(one.address, {}).setdefault((one.model, one.prompt), []).append(one)
    st.caption(format.plain(current_state.job_line(job), limit=300))
    variants = [(model, f"{prompt} v{number}") for model, prompt, number in job.options["variants"]]
    reasons = {item.key: item.reason for item in library.jobs.items(job.id, state="refused")}
    for address in dict.fromkeys(item.payload["address"] for item in library.jobs.items(job.id)):
        with st.container(border=True):
            columns = st.columns([2, *([5] * len(variants))], gap="medium")
            with columns[0]:
                _coin(library, address)
            for number, (column, variant) in enumerate(zip(columns[1:], variants, strict=True)):
                with column:
                    st.caption(format.plain(f"{variant[0]} · {variant[1]}"))
                    _texts(found.get(address, {}).get(variant, []), reasons.get(f"{address} {number}", ""))
                    _keep_button(library, found.get(address, {}).get(variant, []), f"{address}-{number}")


def _coin(library: Library, address: str) -> None:
    try:
        record = library.get(address)
    except MemedexError:
        st.text(address)
        return
    thumbnails.picture(library, record, width=160)
    st.text(safe_mode.shown(library, record).name)


def _texts(found: list[Suggestion], reason: str) -> None:
    texts = {one.facet: one for one in found}
    for facet in (*CAPTION_FACETS, "tags", "new_tags"):
        if facet in texts:
            st.caption(facet.replace("_", " "))
            st.text(texts[facet].text.replace(",", ", ") if "tags" in facet else texts[facet].text)
    if not found:
        st.text(reason or "not answered yet")


def _keep_button(library: Library, found: list[Suggestion], key: str) -> None:
    trial = [one.id for one in found if one.state == "trial"]
    if library.can_write and trial:
        forms.button(
            f"keep-{key}-{trial[0]}", library, partial(library.suggestions.resolve, trial, "open"),
            button=Button("Keep as suggestion", icon="bookmark_add"),
        )  # fmt: skip
    elif found and found[0].state == "open":
        st.caption("kept as a suggestion")
