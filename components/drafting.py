"""Having a caption drafted by a language model, which never writes over anybody's words."""

from collections.abc import Callable

import streamlit as st

from components import caption_form, jobs, resources, state, wording
from store.captioning import Captioner
from store.library import Library
from store.progress import Progress
from store.records import CAPTION_FACETS, Record

_JOB = "memedex.drafting"
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
    missing = [
        facet for facet in CAPTION_FACETS if not caption_form.written(library, record).caption[facet].strip()
    ]
    ready = captioner is not None and bool(missing) and _JOB not in st.session_state
    st.button(
        "Draft what is empty",
        icon=":material/edit_square:",
        disabled=not ready,
        help=_ASKS if captioner else _HOW,
        on_click=_begin,
        args=(library, captioner, record),
    )


def how_to_have_one() -> None:
    """What to set where no language model is configured."""
    if resources.captioner() is None:
        st.caption(_HOW)


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
        now = caption_form.written(library, record)
        caption = {
            facet: text if text.strip() else answer.caption.get(facet, "")
            for facet, text in now.caption.items()
        }
        tags = [*now.tags, *(tag for tag in answer.tags if tag not in now.tags)]
        caption_form.keep(library, record, caption_form.Written(caption, tags, now.revision))
        return answer.model

    return work


def _take_up() -> None:
    """Once the answer is there, fill the form with it."""
    number = st.session_state.get(_JOB)
    job = resources.jobs().get(number) if number else None
    if number and (job is None or job.is_over):
        del st.session_state[_JOB]
        caption_form.begin_again()
        if job and job.state == "done":
            state.say(
                f"Drafted by {wording.plain(str(job.result))}. Read it before you save it.",
                icon=":material/edit_square:",
            )
