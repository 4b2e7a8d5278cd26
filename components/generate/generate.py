"""A new coin from a prompt and examples: streamed, compared with the library, saved as pending."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.generate.context import ContextRequest
from components.shell import format
from components.shell.page import forms, job_bar, live, places, uploads
from components.shell.page.forms import Button, Field
from components.shell.session import safe_mode
from store import Job, Library, MemedexError
from store.errors import InvalidRecord
from store.generation import coin_generator
from store.tasks import generate

_SHOWN = 5  # drafts


def show(library: Library, request: ContextRequest | None) -> None:
    """The prompt and the button; below, running requests and results that are not saved yet."""
    if request is not None:
        st.header("Make a new coin", anchor=False)
        _ask(library, request)
    if library.can_write:
        _drafts(library)


def _ask(library: Library, request: ContextRequest) -> None:
    if not library.can_write:
        st.caption("Only a curator can have one made: a language model's answer costs money.")
        return
    if not request.model:
        st.caption("A language model makes a new coin from this: name one above.")
        st.page_link(**places.LANGUAGE_MODEL, label="Choose a language model", icon=":material/neurology:")
        return
    verb = partial(_generate, library, request, job_bar.watcher())
    forms.show(
        "generate", library, verb, row=True, after_run=True,
        fields=[Field("prompt", "Prompt", value=request.line)],
        button=Button("Generate", icon="auto_awesome", kind="primary"),
    )  # fmt: skip


def _generate(
    library: Library, request: ContextRequest, watch: Callable[[Job], Job], sent: forms.Sent
) -> str:
    prompt = sent["prompt"].strip()
    if not prompt:
        raise InvalidRecord("Say what the coin should be about.")
    job = generate.start(
        library.jobs, prompt, request.addresses, model=request.model, budget=request.budget,
        pictures=request.pictures, decision=sent.decision,
    )  # fmt: skip
    watch(job)
    return ""


def _drafts(library: Library) -> None:
    """Running requests as they stream in, and results that wait; newest first."""
    drafts = generate.own_jobs(library.jobs, library.actor_name)
    for job in drafts[:_SHOWN]:
        if job.is_under_way:
            _coming(library, job)
        else:
            with st.container(border=True):
                _draft(library, job)
    if len(drafts) > _SHOWN:
        st.caption(f"{len(drafts) - _SHOWN:,} earlier ones wait until these are saved or discarded.")


def _coming(library: Library, job: Job) -> None:
    with st.container(border=True):
        st.caption(f"“{format.plain(job.options['prompt'])}” · {format.plain(job.options['model'])}")
        live.answer(library, job.id, str(job.note.get("answer") or ""))
        st.caption("It goes on, and waits here, when you leave the page.")


def _draft(library: Library, job: Job) -> None:
    try:
        coin = generate.coin_of(job)
    except MemedexError as error:
        prompt = format.plain(job.options["prompt"], limit=80)
        st.error(f"No coin was made for “{prompt}”:", icon=":material/error:")
        st.text(str(error))
        if answer := job.note.get("answer"):
            with st.expander("What came"):
                st.text(answer)
        with st.container(horizontal=True, gap="small"):
            forms.button(
                f"invented-again-{job.id}", library, partial(generate.retry, library.jobs, job),
                button=Button("Retry", icon="refresh"),
            )  # fmt: skip
            _throw_away(library, job)
        return
    _made(library, job, coin)


def _throw_away(library: Library, job: Job) -> None:
    forms.button(
        f"invented-away-{job.id}", library, partial(library.jobs.dismiss, job.id),
        button=Button("Discard", icon="delete"),
    )  # fmt: skip


def _made(library: Library, job: Job, coin: coin_generator.GeneratedCoin) -> None:
    st.text(f"{coin.name} · {coin.ticker}")
    st.text(coin.description)
    for facet, text in coin.caption.items():
        _line(facet, text)
    if coin.tags:
        _line("tags", ", ".join(coin.tags))
    if coin.image_prompt:
        _line("image prompt", coin.image_prompt)
    _nearness(library, coin)
    st.caption(f"made by {format.plain(coin.model)} for “{format.plain(coin.prompt)}” from:")
    _linked(library, coin.sources)
    drawn = generate.picture_of(job)
    if drawn:
        st.image(drawn, width=256)
        st.caption(f"drawn by {format.plain(job.note['drawn_by'])}")
    elif why := job.note.get("picture_error"):
        st.text(why)
    picture = uploads.file(
        "Another picture" if drawn else "A picture for it (without one, a plain card)",
        ["png", "jpg", "webp"], "PNG, JPG, WebP", form=f"invented-save-{job.id}",
    )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        content = picture.getvalue() if picture else None
        forms.show(
            f"invented-save-{job.id}", library, partial(_save, library, job, coin, content), after_run=True,
            button=Button("Save to Review", icon="inbox", kind="primary"),
        )  # fmt: skip
        _throw_away(library, job)


def _line(label: str, text: str) -> None:
    with st.container(horizontal=True, gap="small"):
        st.caption(label, width=96)
        st.text(text, width="stretch")


def _nearness(library: Library, coin: coin_generator.GeneratedCoin) -> None:
    try:
        near = coin_generator.nearest(library, coin)
        if not near:
            return
        copies = [one for one in near if one.is_copy]
        first = max(copies, key=lambda one: (len(one.same), one.cosine or 0.0), default=near[0])
        record = library.get(first.address)
    except MemedexError as error:
        st.caption(f":orange[It could not be compared with the library: {format.plain(str(error))}]")
        return
    name = format.plain(safe_mode.shown(library, record).name)
    if not copies:
        st.caption(f"nearest in the library: {name}, {first.cosine or 0.0:.2f}")
        return
    sentence = (
        f"It has the {' and the '.join(first.same)} of {name}" if first.same else f"Close to a copy of {name}"
    )
    how = (
        f"captions {first.cosine:.2f} alike"
        if first.cosine is not None
        else f"in {format.TIERS[record.tier]}"
    )
    more = f" and {len(copies) - 1} more" if len(copies) > 1 else ""
    st.warning(f"{sentence} ({how}){more}", icon=":material/content_copy:")


def _linked(library: Library, addresses: tuple[str, ...]) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for address in addresses:
            try:
                label = format.plain(safe_mode.shown(library, library.get(address)).name, limit=28)
            except MemedexError:
                continue
            st.page_link("pages/captions.py", label=label, query_params={"address": address})


def _save(
    library: Library,
    job: Job,
    coin: coin_generator.GeneratedCoin,
    picture: bytes | None,
    _: Mapping[str, Any],
) -> str:
    report = generate.save(library, job, picture=picture)
    if report.refused:
        raise InvalidRecord(f"Not saved: {report.refused[0].reason}")
    return f"{format.plain(coin.name)} is in Review"
