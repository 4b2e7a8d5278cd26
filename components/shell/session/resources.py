"""What all browser sessions share: the library, its jobs, the language model."""

import contextlib
import importlib
import logging
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

import streamlit as st

from components.shell import format
from components.shell.session import login
from store import (
    Jobs,
    Layout,
    Library,
    LibraryRuntime,
    MemedexError,
    Progress,
    Reader,
    Status,
    Taxonomy,
    check_replica,
    is_replica,
    open_library,
    open_reader,
    salvage_if_damaged,
)
from store.captioning import CheckUp, is_warm
from store.errors import CatalogDamaged, LibraryInUse, ModelUnavailable, ReadOnly
from store.jobs import background_worker
from store.maintenance import doctor
from store.settings import settings

log = logging.getLogger(__name__)

_READ_ONLY = "memedex.read_only"
_FIRST_PAGE = 3.0  # seconds for which the first page has the processor for itself
_CHECKED_AGAIN = 600.0  # seconds at most until a damaged replica is checked again


def library() -> Library:
    """The library of this server, with the permissions of the current user.

    Where it cannot be opened the page says why, and ends.
    """
    reading = settings().read_only or st.session_state.get(_READ_ONLY)
    try:
        opened = _opened(settings().root, reading=bool(reading))
        if not opened.catalog.is_in_place:
            return _say_it_is_gone(opened.layout.memecoins)
        return opened.for_actor(login.actor())
    except LibraryInUse as error:
        _offer_reading(str(error))
    except CatalogDamaged as error:
        _offer_salvage(str(error))
    except MemedexError as error:
        st.title("The library could not be opened")
        st.error("What went wrong:")
        st.text(str(error))
    return st.stop()


def library_of_routes() -> Library:
    """The library of this server, for requests outside of a page.

    Looked up each time: while another process writes it is read-only, and writable again once that ends.
    """
    root = settings().root.resolve()
    if LibraryRuntime.can_open(root):
        with contextlib.suppress(LibraryInUse, ReadOnly):
            return open_library(root, files_later=True)
    return _reader_of_routes(root)


@lru_cache(maxsize=4)
def _reader_of_routes(root: Path) -> Library:
    return open_reader(root)


def status(library: Library) -> Status:
    """The library's health; an invalid model name must not keep a page from opening."""
    try:
        return library.status()
    except ModelUnavailable as error:
        return Status(
            model=library.model,
            model_status=f"unavailable: {error}",
            can_write=library.can_write,
            chroma_behind=0,
            chroma_fault="",
            stuck="",
            applying=(),
            faults=(),
            generation=library.generation,
        )


def jobs() -> Jobs:
    """The jobs of this server's library, with the permissions of the current user."""
    return library().jobs


def ready_to_search(library: Library) -> None:
    """Wait, with a progress bar, until model and vectors are loaded; returns at once if they are."""

    def summary() -> tuple[float, str]:
        reading = library.reading_vectors
        if not reading.total:
            return 0.0, "Loading the model for the first search …"
        coins = format.counted(reading.total, "coin")
        return reading.fraction, f"Reading the vectors of {coins} for the first search · {reading.done:,}"

    _show_progress(warm(library), summary)


def taxonomy() -> Taxonomy:
    """The known tags and their categories."""
    return library().taxonomy


def check_up() -> CheckUp:
    """The caption check-up; findings are cached until something changes."""
    library()  # who may not see it is told so
    return _check_up(settings().root, library_of_routes())  # it outlives who looks first


def warm(library: Library) -> threading.Thread:
    """Load the embedding model, the library's vectors and the orders of its pages once, in the background.

    The model's status and `reading_vectors` show the progress.
    """
    return _warming(settings().root, library.model, library)


def _opened(root: Path, *, reading: bool) -> Library:
    if not reading:
        with contextlib.suppress(ReadOnly):  # on a read-only disk there is nothing to choose
            return _for_writing(root)
    return _for_reading(root)


def _for_writing(root: Path) -> Library:
    opening = _opening(root)
    _show_progress(opening, opening.summary)
    if opening.opened is None:
        _opening.clear()
        raise opening.error
    return opening.opened


class _Opening(threading.Thread):
    """The library being opened in a thread: every session waits for it and sees the progress."""

    opened: Library | None = None
    error: BaseException

    def __init__(self, root: Path) -> None:
        super().__init__(name="memedex-opening", daemon=True)
        self._root = root
        self._progress = Progress()

    def run(self) -> None:
        try:
            library = open_library(self._root, progress=self._progress, files_later=True)
            library.work_in_background(after=_FIRST_PAGE)
            library.jobs.resume_interrupted()
            if inbox := settings().inbox:
                library.watch_inbox(inbox)
            if papers := settings().papers:
                library.watch_papers(papers)
        except BaseException as error:  # noqa: BLE001  raised again on the page that waits
            self.error = error
        else:
            self.opened = library

    def summary(self) -> tuple[float, str]:
        looked = self._progress
        if not looked.total or looked.done == looked.total:
            return looked.fraction, "Opening the library …"
        coins = format.counted(looked.total, "coin")
        return looked.fraction, f"Opening the library: looking at the files of {coins} · {looked.done:,}"


@st.cache_resource(show_spinner=False)
def _opening(root: Path) -> _Opening:
    opening = _Opening(root)
    opening.start()
    return opening


@st.cache_resource(show_spinner=False)
def _for_reading(root: Path) -> Library:
    reader = open_reader(root)
    if is_replica(reader.layout.catalog):
        _replica_check(root, reader).wake()
    return reader


@st.cache_resource(show_spinner=False)
def _replica_check(root: Path, _replica: Library) -> background_worker.Worker:
    """What checks a replica once; System status and /health show what it finds."""
    return background_worker.Worker(
        "checking the replica", lambda _: check_replica(_replica.catalog), longest=_CHECKED_AGAIN
    )


@st.cache_resource(show_spinner=False)
def _check_up(root: Path, _library: Reader) -> CheckUp:
    return CheckUp(_library)


@st.cache_resource(show_spinner=False)
def _warming(root: Path, name: str, _library: Library) -> threading.Thread:
    def load() -> None:
        try:
            _library.embedder.warm()
            _library.prepare_search()
        except MemedexError as error:  # the status says it too; searching raises it again, where it is shown
            log.warning("the embedding model is not available: %s", error)
        except Exception:  # the next search raises it again
            log.exception("the embedding model or the vectors could not be loaded")
        threading.Thread(target=prepare_pages, name="memedex-lists", daemon=True).start()

    def prepare_pages() -> None:  # no search waits for this
        try:
            _library.prepare_lists()
        except Exception:  # the next page raises it again
            log.exception("the orders of pages could not be made")
        importlib.import_module("store.memory.values")  # a third of a second, for Activity and Memory
        if settings().caption_model:
            is_warm()  # so that the first estimate of a run does not wait for the price list

    thread = threading.Thread(target=load, name="memedex-warm", daemon=True)
    thread.start()
    return thread


def _offer_reading(reason: str) -> None:
    st.title("The library is in use")
    st.text(reason)
    st.text(
        "Two programs must not write to one library. Close the other one, or look at it without changing it."
    )
    with st.container(horizontal=True):
        st.button("Try again", type="primary")
        st.button("Open for reading", on_click=lambda: st.session_state.update({_READ_ONLY: True}))


def _say_it_is_gone(folder: Path) -> NoReturn:
    st.title("The library is gone")
    st.text(f"{folder} was removed or replaced while this dashboard had it open. Nothing more is written.")
    st.text("Move it back and try again. If another library is there now, restart the dashboard.")
    st.button("Try again", type="primary")
    st.stop()


def _offer_salvage(reason: str) -> None:
    st.title("The catalog is damaged")
    st.text(reason)
    if is_replica(Layout(settings().root).catalog):
        st.button("Try again", type="primary")
    elif login.actor().can_write and st.button("Repair", type="primary", icon=":material/build:"):
        with st.spinner("Reading what the old catalog still says"):
            salvaged = salvage_if_damaged(Layout(settings().root))
            doctor.repair(_for_writing(settings().root))
        if not salvaged:
            st.rerun()
        st.success("Repaired.", icon=":material/check:")  # what is lost has to be read, not to fly by
        st.text(salvaged.summary)
        st.button("Open the library")


_AT_ONCE = 0.3  # seconds that need no explanation


def _show_progress(thread: threading.Thread, progress_of: Callable[[], tuple[float, str]]) -> None:
    """Show progress (0 to 1) and a sentence until the thread has ended."""
    bar = st.empty()  # even if none is shown: what is below must not be redrawn without it
    thread.join(_AT_ONCE)
    while thread.is_alive():
        fraction, words = progress_of()
        bar.progress(fraction, text=words)
        thread.join(_AT_ONCE)
    bar.empty()
