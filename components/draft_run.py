"""Which coins are drafted, by which model, with which prompt, and for how much money."""

from collections.abc import Sequence

import streamlit as st

from components import jobs, state, wording
from components.grid import Entry, lead_to
from store import drafting
from store.drafting import LANES, MAX_LANES, Plan
from store.errors import MemedexError
from store.filter import Filter
from store.jobs import Job
from store.language_models import is_warm
from store.library import Library
from store.prompts import DEFAULT
from store.settings import settings

CHOSEN = "memedex.drafting.chosen"  # addresses that another page brought along
HOW = (
    "No language model is configured. Set `MEMEDEX_CAPTION_MODEL` (`gpt-4o-mini` for instance, with its "
    "`OPENAI_API_KEY`, or `ollama/llava` on this machine), or name one below."
)
_AGAIN = 1.0  # seconds
_LACKING, _ALL, _PICKED = "Lack a caption", "All approved", "Chosen"


def show(library: Library) -> None:
    """What a run would ask for, and the button that begins it."""
    if not settings().caption_model:
        st.info(HOW, icon=":material/neurology:")
    with st.container(border=True):
        addresses = _which(library)
        model, prompt = how(library, key="run")
        plan = _planned(library, addresses, model, prompt)
        if plan is not None:
            figures(plan)
        if library.can_write:
            _begin_row(library, plan, addresses)


def bring(entry: Entry) -> None:
    """What was chosen in a grid, taken along to the page that drafts."""
    st.session_state[CHOSEN] = list(entry.addresses)
    lead_to("pages/drafting.py")


def how(library: Library, *, key: str, prompt: str = DEFAULT) -> tuple[str, str]:
    """Model and prompt, side by side."""
    left, right = st.columns([3, 2], gap="small")
    with left:
        model = st.text_input(
            "Model",
            value=settings().caption_model,
            key=f"{key}-model",
            placeholder="gpt-4o-mini, anthropic/claude-…, gemini/…, ollama/llava",
            help="By its litellm name; it must see pictures. The key stands where its provider expects it.",
            disabled=not library.can_write,
        )
    with right:
        names = library.prompts.names()
        asked = st.selectbox(
            "Prompt", names, index=names.index(prompt) if prompt in names else 0, key=f"{key}-prompt",
            format_func=lambda name: library.prompts.get(name).label, disabled=not library.can_write,
        )  # fmt: skip
    return (model or "").strip(), asked or prompt


def figures(plan: Plan) -> None:
    """How many, tokens and cost, before anything is asked."""
    if not plan.count:
        return
    tokens = plan.prompt_tokens + plan.completion_tokens
    cost = (
        "cost unknown: no price for this model"
        if plan.cost is None
        else f"about {wording.dollars(plan.cost)}"
    )
    st.caption(f"{wording.counted(plan.count, 'question')} · about {tokens:,} tokens · {cost}")
    if not plan.sees:
        st.warning("This model is known not to see pictures.", icon=":material/visibility_off:")


def is_priced() -> bool:
    """Whether tokens and cost can be told already: it takes seconds the first time, which are said."""
    if is_warm():
        return True
    st.caption("Reading the price list …")
    st.fragment(_look_again, run_every=_AGAIN)()
    return False


def _look_again() -> None:
    if is_warm():
        st.rerun()


def begin(library: Library, plan: Plan, *, budget: float | None = None, lanes: int = LANES) -> Job | None:
    """Start the run and watch it on every page; None when it was refused, which is said."""
    try:
        return jobs.watched(drafting.start(library, plan, budget=budget, lanes=lanes))
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=300), icon=":material/error:")
        return None


def _which(library: Library) -> list[str]:
    picked: list[str] = st.session_state.get(CHOSEN, [])
    lacking = drafting.lacking(library)
    choices = [_LACKING, _ALL, *([_PICKED] if picked else [])]
    sizes = {_LACKING: len(lacking), _ALL: library.count(Filter(tier="approved")), _PICKED: len(picked)}
    chosen = st.segmented_control(
        "Coins",
        choices,
        default=_PICKED if picked else _LACKING,
        required=True,
        key=f"draft-which-{bool(picked)}",
        format_func=lambda choice: f"{choice} · {sizes[choice]:,}",
        help="Coins with a suggestion waiting, or being drafted, are not among those that lack one.",
    )
    if chosen == _ALL:
        return library.addresses(Filter(tier="approved"))
    return picked if chosen == _PICKED else lacking


def _planned(library: Library, addresses: Sequence[str], model: str, prompt: str) -> Plan | None:
    if not model or not is_priced():
        return None
    try:
        return drafting.plan_drafting(library, addresses, model=model, prompt=prompt)
    except MemedexError as error:
        st.error("This cannot be asked:", icon=":material/error:")
        st.text(str(error))
        return None


def _go(library: Library, addresses: Sequence[str]) -> None:
    """As the fields say by now: a press may come together with the last figure of the budget."""
    said = st.session_state
    try:
        plan = drafting.plan_drafting(
            library, addresses, model=(said["run-model"] or "").strip(), prompt=said["run-prompt"]
        )
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=300), icon=":material/error:")
        return
    budget = said["draft-budget"] or None
    begin(library, plan, budget=budget if plan.cost is not None else None, lanes=int(said["draft-lanes"]))


def _begin_row(library: Library, plan: Plan | None, addresses: Sequence[str]) -> None:
    priced = plan is not None and plan.cost is not None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            "Budget, US dollars", min_value=0.0, value=0.0, step=0.5, key="draft-budget", width=170,
            disabled=not priced,
            help="It stops before this is passed; 0 is none. It can be raised, and the run continued."
            if priced else "No price is known for this model, so a budget could not be kept.",
        )  # fmt: skip
        st.number_input(
            "At once", min_value=1, max_value=MAX_LANES, value=LANES, key="draft-lanes", width=120,
            help="Questions under way at the same time; a provider's rate limit is waited for.",
        )  # fmt: skip
        count = len(addresses)
        st.button(
            f"Draft {wording.counted(count, 'coin')}" if count else "Nothing to draft",
            type="primary",
            icon=":material/edit_square:",
            disabled=not (plan and count),
            key="draft-go",
            on_click=_go,
            args=(library, addresses),
        )
    waiting = len(library.suggestions.waiting())
    if waiting:
        st.page_link(
            "pages/captions.py",
            label=f"{wording.counted(waiting, 'coin')} with suggestions to look at",
            icon=":material/edit_note:",
        )
