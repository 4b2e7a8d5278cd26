"""Drafts of captions: which coins, by which model, with which prompt, for how much money; what was spent."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.grid.grid import lead_to
from components.shell import format
from components.shell.page import charts, forms, job_bar, live, places, tables
from components.shell.page.forms import Button, Field
from store import Filter, Job, Library, MemedexError
from store.captioning import DEFAULT_PROMPT, is_warm
from store.reading import statistics
from store.settings import settings
from store.tasks import draft

if TYPE_CHECKING:
    import pandas as pd


CHOSEN = "memedex.drafting.chosen"  # addresses that another page brought along
_LACKING, _ALL, _PICKED = "Missing caption", "All approved", "Chosen"


def show(library: Library) -> None:
    """Show what a run would ask, and the button that starts it."""
    if not settings().caption_model:
        st.page_link(**places.LANGUAGE_MODEL, label="Choose a language model", icon=":material/neurology:")
    with st.container(border=True):
        addresses = _which(library)
        model, prompt = how(library, key="run")
        plan = _planned(library, addresses, model, prompt)
        if plan is not None:
            figures(plan)
        if library.can_write:
            _begin_row(library, plan, addresses)


def preselect(chosen: Sequence[str]) -> None:
    """Grid handler: take the selection to the page that drafts."""
    st.session_state[CHOSEN] = list(chosen)
    lead_to(places.DRAFTS)


def how(library: Library, *, key: str, prompt: str = DEFAULT_PROMPT) -> tuple[str, str]:
    """Fields for model and prompt, side by side."""
    left, right = st.columns([3, 2], gap="small")
    with left:
        model = st.text_input(
            "Model",
            value=settings().caption_model,
            key=f"{key}-model",
            persist_state="session",
            placeholder="gpt-4o-mini, anthropic/claude-…, gemini/…, ollama/llava",
            help="By its litellm name; it must see pictures. The key is where its provider expects it.",
            disabled=not library.can_write,
        )
    with right:
        names = library.prompts.names()
        choice = st.selectbox(
            "Prompt",
            names,
            index=names.index(prompt) if prompt in names else 0,
            key=f"{key}-prompt",
            format_func=lambda name: library.prompts.get(name).label,
            disabled=not library.can_write,
        )
    return (model or "").strip(), choice or prompt


def figures(plan: draft.Plan) -> None:
    """Show number, tokens and cost before anything is asked."""
    if not plan.count:
        return
    tokens = plan.prompt_tokens + plan.completion_tokens
    cost = (
        "cost unknown: no price for this model" if plan.cost is None else f"about {format.dollars(plan.cost)}"
    )
    st.caption(f"{format.counted(plan.count, 'request')} · about {tokens:,} tokens · {cost}")
    if not plan.sees:
        st.warning("This model is known not to see pictures.", icon=":material/visibility_off:")


def is_priced(library: Library, *, key: str) -> bool:
    """Whether tokens and cost can be shown; the first time this takes seconds, with a message."""
    if is_warm():
        return True
    st.caption("Reading the price list …")
    live.price_list(library, key=key)
    return False


def _which(library: Library) -> list[str]:
    picked: list[str] = st.session_state.get(CHOSEN, [])
    lacking = draft.lacking(library)
    choices = [_LACKING, _ALL, *([_PICKED] if picked else [])]
    missing = library.count(Filter(tier="approved", captioned=False))
    sizes = {
        _LACKING: f"{len(lacking):,}" + (f" of {missing:,}" if missing > len(lacking) else ""),
        _ALL: f"{library.count(Filter(tier='approved')):,}",
        _PICKED: f"{len(picked):,}",
    }
    chosen = st.segmented_control(
        "Coins",
        choices,
        default=_PICKED if picked else _LACKING,
        required=True,
        key=f"draft-which-{bool(picked)}",
        format_func=lambda choice: f"{choice} · {sizes[choice]}",
        help="Coins with a suggestion to look at, or being drafted, are left out.",
    )
    if chosen == _ALL:
        return library.addresses(Filter(tier="approved"))
    return picked if chosen == _PICKED else lacking


def _planned(library: Library, addresses: Sequence[str], model: str, prompt: str) -> draft.Plan | None:
    if not model or not is_priced(library, key="draft"):
        return None
    try:
        return draft.plan_drafting(library, addresses, model=model, prompt=prompt)
    except MemedexError as error:
        st.error("Can't start drafting:", icon=":material/error:")
        st.text(str(error))
        return None


def _go(library: Library, plan: draft.Plan | None, watch: Callable[[Job], Job], sent: forms.Sent) -> str:
    if plan:
        budget, lanes = sent.get("budget") or None, int(sent["lanes"])
        watch(draft.start(library, plan, budget=budget, lanes=lanes, decision=sent.decision))
    return ""


def _begin_row(library: Library, plan: draft.Plan | None, addresses: Sequence[str]) -> None:
    count = len(addresses)
    lanes = Field(
        "lanes", "Parallel requests", "number", value=draft.LANES, least=1, most=draft.MAX_LANES,
        help="Requests at the same time; a provider's rate limit is waited for.",
    )  # fmt: skip
    budget = Field(
        "budget", "Budget, US dollars", "number", value=0.0,
        help="It stops before this is passed; 0 is none. It can be raised, and the run continued.",
    )  # fmt: skip
    is_priced = plan is not None and plan.cost is not None  # else a budget could not be kept
    forms.show(
        "draft", library, partial(_go, library, plan, job_bar.watcher()), row=True, after_run=True,
        fields=[budget, lanes] if is_priced else [lanes],
        button=Button(
            f"Draft {format.counted(count, 'coin')}" if count else "Nothing to draft",
            icon="edit_square", kind="primary", disabled=not (plan and count),
        ),
    )  # fmt: skip
    waiting = len(draft.suggested(library))
    if waiting:
        st.page_link(
            "pages/captions.py",
            label=f"{format.counted(waiting, 'coin')} with suggestions to look at",
            icon=":material/edit_note:",
        )


def spending(library: Library) -> None:
    """Costs by day, and by model with their tokens."""
    import pandas as pd

    st.header("Spending", anchor=False)
    spent = pd.DataFrame(statistics.spending(library), columns=statistics.Spending._fields)
    if spent.empty:
        st.caption(
            "No language model was asked for drafts yet. What drafting costs is shown here by day and model."
        )
        return
    models = by_model(spent)
    if (priced := spent.dropna(subset="cost")).empty:
        st.caption("No price is known for these models, so only their tokens are counted.")
    else:
        st.caption(f"Spent per day (UTC), {format.dollars(priced['cost'].sum())} in all")
        figure = charts.days(
            list(priced[["day", "model", "cost"]].itertuples(index=False)),
            title="US dollars",
            form="dollars",
            colors=charts.in_colors(models["model"]),
        )
        charts.show(figure, key="spending-by-day", alt="US dollars spent per day, by model")
    tables.show(
        models,
        alt="Tokens and US dollars by model",
        placeholder="unknown",
        columns={
            "model": "Model",
            "prompt_tokens": st.column_config.NumberColumn("Tokens read", format="localized"),
            "completion_tokens": st.column_config.NumberColumn("Tokens written", format="localized"),
            "cost": st.column_config.NumberColumn("US dollars", format="$%.4f"),
        },
    )


def by_model(spent: "pd.DataFrame") -> "pd.DataFrame":
    """Tokens and costs of each model, most expensive first; no cost if the price is unknown."""
    sums = spent.drop(columns="day").groupby("model", as_index=False).sum(min_count=1)
    return sums.sort_values(["cost", "prompt_tokens"], ascending=False, ignore_index=True)
