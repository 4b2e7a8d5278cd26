"""Having a caption drafted by a language model, which never writes over anybody's words."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from components import jobs, resources, state, wording
from components.editor.content import readable
from store.captioning import Captioner
from store.library import Library
from store.progress import Progress
from store.records import CAPTION_FACETS, Record

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
    _take_up()
    captioner = resources.captioner()
    now = _written(library, record)["caption"]
    missing = [facet for facet in CAPTION_FACETS if not (now.get(facet) or "").strip()]
    ready = captioner is not None and bool(missing) and _JOB not in st.session_state
    st.button(
        "Draft what is empty",
        icon=":material/edit_square:",
        disabled=not ready,
        help=_ASKS if captioner else _HOW,
        on_click=_begin,
        args=(library, captioner, record),
    )


def _begin(library: Library, captioner: Captioner, record: Record) -> None:
    job = jobs.run(
        resources.jobs(), f"Draft a caption for {record.name}", drafting(library, captioner, record)
    )
    st.session_state[_JOB] = job.id


def drafting(library: Library, captioner: Captioner, record: Record) -> Callable[[Progress], str]:
    """The work itself: ask, and put the answer into what is empty of the record's draft by then."""

    def work(progress: Progress) -> str:
        answer = captioner.draft(
            library.picture(record.address).read_bytes(),
            name=record.name,
            ticker=record.ticker,
            description=record.description,
            tags=record.tags,
        )
        now = _written(library, record)
        caption, sources = dict(now["caption"]), dict(now["sources"])
        for facet, text in answer.caption.items():
            if not (caption.get(facet) or "").strip():
                caption[facet] = text
                sources[facet] = {"model": answer.model, "prompt": "", "edited": False, "text": text}
        tags = [*now["tags"], *(tag for tag in answer.tags if tag not in now["tags"])]
        drafted = {"caption": caption, "tags": tags, "sources": sources, "client": _CLIENT, "n": now["n"] + 1}
        library.save_draft(record.address, {**now, **drafted})
        return answer.model

    return work


def _written(library: Library, record: Record) -> dict[str, Any]:
    """What stands in the editor: the draft, else what is stored."""
    return readable(library.draft(record.address) or {}, record)


def _take_up() -> None:
    """Once the answer is there, fill the form with it."""
    number = st.session_state.get(_JOB)
    job = resources.jobs().get(number) if number else None
    if number and (job is None or job.is_over):
        del st.session_state[_JOB]
        if job and job.state == "done":
            state.say(
                f"Drafted by {wording.plain(str(job.result))}. Read it before you save it.",
                icon=":material/edit_square:",
            )
