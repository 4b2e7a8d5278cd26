"""What all browser sessions share: the library, its long work, the language model."""

import contextlib
import gc
import logging
import threading
from functools import lru_cache
from pathlib import Path
from typing import NoReturn, cast

import streamlit as st

from components import access, getting_ready, wording
from store import doctor
from store.captions.checkup import CheckUp
from store.desk import Desk
from store.errors import CatalogDamaged, LibraryInUse, MemedexError, ModelUnavailable, ReadOnly
from store.jobs import Jobs
from store.language_models import is_loaded, is_warm
from store.layout import Layout
from store.library import Library
from store.people import may_change
from store.progress import Progress
from store.reading import Reader, Status
from store.salvage import salvage_if_damaged
from store.settings import settings
from store.taxonomy import Taxonomy

log = logging.getLogger(__name__)

_READ_ONLY = "memedex.read_only"


def library() -> Library:
    """The library of this server; where it cannot be opened the page says why, and ends."""
    reading = settings().read_only or st.session_state.get(_READ_ONLY)
    try:
        opened = _opened(settings().root, reading=bool(reading))
        if not opened.catalog.is_in_place:
            return _say_it_is_gone(opened.layout.memecoins)
        # A Desk may stand where pages expect a Library: they ask `can_write` before they offer to change it.
        return cast(Library, Desk(opened, who=access.person()))
    except LibraryInUse as error:
        _offer_reading(str(error))
    except CatalogDamaged as error:
        _offer_salvage(str(error))
    except MemedexError as error:
        st.title("The library could not be opened")
        st.error("Nothing was changed. What went wrong:")
        st.text(str(error))
    return st.stop()


def status(library: Library) -> Status:
    """Whether all is well; a model that cannot even be named as one must not keep any page from opening."""
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
    """The long work of this server's library, in the hands of whoever asks."""
    return library().jobs


def ready_to_search(library: Library) -> None:
    """Wait until model and vectors are there, the page saying how far; returns at once when they are."""

    def told() -> tuple[float, str]:
        reading = library.reading_vectors
        if not reading.total:
            return 0.0, "Loading the model for the first search …"
        coins = wording.counted(reading.total, "coin")
        return reading.fraction, f"Reading the vectors of {coins} for the first search · {reading.done:,}"

    getting_ready.watch(warm(library), told)


def taxonomy() -> Taxonomy:
    """Which tags there are, and their categories."""
    return library().taxonomy


def check_up() -> CheckUp:
    """All captions looked through; what is found is remembered until something changes."""
    return _check_up(settings().root, library())


def warm(library: Library) -> threading.Thread:
    """Load the embedding model in the background, and the library's vectors, once; what it does stands in
    the model's status and in `reading_vectors`."""
    return _warming(settings().root, library.model, library)


def settle_memory() -> None:
    """Take all that is imported out of the `gc.collect(2)` after each run, which costs 100 ms with torch, and
    as much with litellm."""
    _settle(with_litellm=is_loaded())


@lru_cache(maxsize=2)
def _settle(*, with_litellm: bool) -> None:
    gc.collect()
    gc.freeze()


def _opened(root: Path, *, reading: bool) -> Reader:
    if not reading:
        with contextlib.suppress(ReadOnly):  # on a read-only disk there is nothing to choose
            return _for_writing(root)
    return _for_reading(root)


def _for_writing(root: Path) -> Library:
    opening = _opening(root)
    getting_ready.watch(opening, opening.told)
    if opening.opened is None:
        _opening.clear()
        raise opening.error
    return opening.opened


class _Opening(threading.Thread):
    """The library being opened, in a thread of its own: every session waits for it and sees how far it is."""

    opened: Library | None = None
    error: BaseException

    def __init__(self, root: Path) -> None:
        super().__init__(name="memedex-opening", daemon=True)
        self._root = root
        self._progress = Progress()

    def run(self) -> None:
        try:
            library = Library.open(self._root, progress=self._progress)
            library.watch_for_duplicates()
            library.jobs.go_on()
            if inbox := settings().inbox:
                library.watch_inbox(inbox)
        except BaseException as error:  # noqa: BLE001  raised again on the page that waits
            self.error = error
        else:
            self.opened = library

    def told(self) -> tuple[float, str]:
        looked = self._progress
        if not looked.total or looked.done == looked.total:
            return looked.fraction, "Opening the library …"
        coins = wording.counted(looked.total, "coin")
        return looked.fraction, f"Opening the library: looking at the files of {coins} · {looked.done:,}"


@st.cache_resource(show_spinner=False)
def _opening(root: Path) -> _Opening:
    opening = _Opening(root)
    opening.start()
    return opening


@st.cache_resource(show_spinner=False)
def _for_reading(root: Path) -> Reader:
    return Library.open_for_reading(root)


@st.cache_resource(show_spinner=False)
def _check_up(root: Path, _library: Library) -> CheckUp:
    return CheckUp(_library)


@st.cache_resource(show_spinner=False)
def _warming(root: Path, name: str, _library: Library) -> threading.Thread:
    def load() -> None:
        try:
            _library.embedder.warm()
            _library.snapshot()
        except (
            MemedexError
        ) as error:  # the status says it too; searching will raise it again, where it is shown
            log.warning("the embedding model is not available: %s", error)
        else:
            _settle.cache_clear()
            settle_memory()
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
    st.text("Move it back and try again. If another one lies there now, end the dashboard and start it anew.")
    st.button("Try again", type="primary")
    st.stop()


def _offer_salvage(reason: str) -> None:
    st.title("The catalog is damaged")
    st.text(reason)
    if may_change(access.person()) and st.button("Repair", type="primary", icon=":material/build:"):
        with st.spinner("Reading what the old catalog still says"):
            salvaged = salvage_if_damaged(Layout(settings().root))
            doctor.repair(_for_writing(settings().root))
        if not salvaged:
            st.rerun()
        st.success("Repaired.", icon=":material/check:")  # what is lost has to be read, not to fly by
        st.text(salvaged.told)
        st.button("Open the library")
