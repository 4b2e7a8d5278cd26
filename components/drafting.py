"""Having a caption drafted by a language model, which never writes over anybody's words."""

from typing import Any

import streamlit as st

from components import state, wording
from components.editor.content import readable
from store import drafting
from store.errors import MemedexError
from store.library import Library
from store.records import CAPTION_FACETS, Record
from store.settings import settings
from store.suggestions import Suggestion

_JOB = "memedex.drafting"
_CLIENT = "the language model"  # as the editor tells apart who kept a draft
_ASKS = "The picture, the name and the tags are sent to the configured language model."
_HOW = (
    "No language model is configured. Set `MEMEDEX_CAPTION_MODEL` (for instance `gpt-4o-mini`, "
    "or `ollama/llava` on this machine) and it drafts what is still empty."
)


def button(library: Library, record: Record) -> None:
    """The button; without a language model it says what to set."""
    if not library.can_write:
        return
    _take_up(library, record)
    configured = bool(settings().caption_model)
    now = _written(library, record)["caption"]
    missing = [facet for facet in CAPTION_FACETS if not (now.get(facet) or "").strip()]
    st.button(
        "Draft what is empty",
        icon=":material/edit_square:",
        disabled=not (configured and missing and _JOB not in st.session_state),
        help=_ASKS if configured else _HOW,
        on_click=_begin,
        args=(library, record),
    )


def _begin(library: Library, record: Record) -> None:
    try:
        job = drafting.start(library, drafting.plan_drafting(library, [record.address]))
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=300), icon=":material/error:")
    else:
        st.session_state[_JOB] = job.id


def _take_up(library: Library, record: Record) -> None:
    """Once the answer is there, fill what is still empty with it."""
    number = st.session_state.get(_JOB)
    job = library.jobs.get(number) if number else None
    if number is None or (job is not None and job.is_under_way):
        return
    del st.session_state[_JOB]
    if found := [one for one in library.suggestions(record.address) if one.job == number]:
        _fill(library, record, found)
        state.say(
            f"Drafted by {wording.plain(found[0].model)}. Read it before you save it.",
            icon=":material/edit_square:",
        )
        st.rerun()
    failed = library.jobs.items(number, state="refused", limit=1)
    if reason := failed[0].reason if failed else job.error if job else "":
        state.say(f"Drafting failed: {wording.plain(reason, limit=300)}", icon=":material/error:")
        st.rerun()


def _fill(library: Library, record: Record, found: list[Suggestion]) -> None:
    now = _written(library, record)
    caption, sources, tags = dict(now["caption"]), dict(now["sources"]), list(now["tags"])
    for one in found:
        if one.facet in ("tags", "new_tags"):
            tags += [tag for tag in one.tags if tag not in tags]
        elif not (caption.get(one.facet) or "").strip():
            caption[one.facet] = one.text
            sources[one.facet] = {
                "model": one.model, "prompt": one.prompt, "edited": False, "text": one.text,
            }  # fmt: skip
    drafted = {"caption": caption, "tags": tags, "sources": sources, "client": _CLIENT, "n": now["n"] + 1}
    library.save_draft(record.address, {**now, **drafted})


def _written(library: Library, record: Record) -> dict[str, Any]:
    """What stands in the editor: the draft, else what is stored."""
    return readable(library.draft(record.address) or {}, record)
