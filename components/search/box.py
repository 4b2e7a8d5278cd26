"""The search box: one line, which the chips below it and the address show too, the filter, and trends."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import streamlit as st

from components.grid.filters import Drawer, mended
from components.grid.grid import tools_place
from components.search import chips as search_chips
from components.search import saved
from components.shell import format, javascript
from components.shell.page import address
from components.shell.page.query_pictures import LINE, parts_of, store
from components.shell.page.streamlit_style import BAR
from components.shell.session import presenter, session
from store import Filter, Library, MemedexError, Part
from store.catalog import filter_syntax
from store.disk import images
from store.errors import BadPicture
from store.search import Question, Term, query_pictures, query_syntax

EXAMPLES = ("an owl in the rain", "to the moon", "cyberpunk city at night", "sad but funny", "pixel art dog")
DRAWER = Drawer("search", LINE, "question", names_tier=True)
_FAULT = "search.fault"  # why a picture that was shown is none
_LIKE = "like"  # an address in a link: coins like this one
_TREND_SIDE = 108
_TRENDS = 8  # pictures
_LOOKED_AT = 64  # files; broken ones among the newest do not hide the others
_MOST_BYTES = 8_000_000
_WELL_HTML = """
<label class="well" tabindex="0">
  <input type="file" accept="image/*" hidden>
  <span class="hint"></span>
</label>
"""
_WELL = javascript.mounted(
    "picture_well", _WELL_HTML, script="search/picture_drop.js", style="search/picture_drop.css"
)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The query, those parts that can be searched with, and whether copies are folded into one."""

    question: Question
    parts: tuple[Part, ...]
    folded: bool
    faults: tuple[str, ...] = ()  # what of the line was not understood, or cannot be searched with

    @property
    def narrows(self) -> bool:
        """Whether it asks for coins without comparing them: by a tag, a date, another tier."""
        return not self.question.terms and self.question.filter != Filter(tier="library")

    @property
    def is_refused(self) -> bool:
        """Whether results would be others than were meant, since too little was understood."""
        return bool(self.question.filter_faults or (self.faults and not self.parts and not self.narrows))


def controls(library: Library, *, lead: Callable[[], object], has_tools: bool) -> SearchRequest:
    """One bar: `lead`, line, picture, filters, saved searches and tools; below it a chip for each part."""
    _take_example()
    saved.take_link(library)
    with st.container(key=BAR, horizontal=True, vertical_alignment="center", gap="small"):
        lead()
        line = st.text_input(
            "Search", **address.kept(LINE), type="search", icon=":material/search:",
            placeholder="Words, or: 2 × \"frog\" + picture − \"text\"", label_visibility="collapsed",
            help=None,
        )  # fmt: skip
        with st.container(key="search-well", width=150):
            picture_well(lambda content: _add_picture(library, content), key="search-picture")
        question = query_syntax.read(presenter.revealed(line or "", "question"), actor=library.actor_name)
        among = replace(question.filter, tier=question.filter.tier or "library")
        folded = DRAWER.show(library, among, more=_fold)
        saved.menu(library, question)
        if has_tools:
            tools_place()
    question = replace(question, filter=among)
    parts, faults = parts_of(library, question)
    request = SearchRequest(question, parts, bool(folded), (*question.faults, *faults))
    with st.container(gap="small"):  # what comes and goes in it moves nothing below
        search_chips.show(library, question)
        _say_faults(request, line or "")
    return request


def _say_faults(request: SearchRequest, line: str) -> None:
    refused = st.session_state.pop(_FAULT, None)
    if refused:
        st.error("This picture cannot be searched with:", icon=":material/broken_image:")
        st.text(refused)
    mended(request.question.hints)
    _offer_signs(line)
    if not address.binding(LINE):
        st.caption(":orange[This query is too long for the page's address: a reload starts without it.]")
    if not request.is_refused:
        for fault in request.faults:
            st.caption(f":orange[{format.plain(format.capital(fault), limit=200)}]")


def _fold() -> bool:
    return st.toggle("Group duplicates", key="fold", bind="query-params")


def correct(asked: SearchRequest) -> None:
    """What was not understood, instead of unwanted results, with a remedy."""
    for fault in asked.faults:
        st.warning(format.plain(format.capital(fault), limit=200), icon=":material/help:")
    line = st.session_state.get(LINE) or ""
    better = filter_syntax.corrected(line, names_tier=True)
    with st.container(horizontal=True, gap="small"):
        if better != line:
            st.button(
                f"Use {format.plain(better, limit=60)}",
                key="search-corrected",
                type="primary",
                on_click=_put,
                args=(better,),
            )
        if asked.question.filter_faults:
            st.button(
                "Clear filters",
                key="search-clear",
                on_click=_put,
                args=(filter_syntax.cleared(line, "question"),),
            )


def invite(library: Library) -> None:
    """The page of an empty box: example queries, and trending pictures."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Describe a coin, show a picture, or try one of these:", width="content")
        for example in EXAMPLES:
            st.button(example, on_click=_put, args=(example,))
    _suggest_trends(library, partial(_add_picture, library))


def _offer_signs(line: str) -> None:
    """Say which characters are words in this line, though they look like a minus or a weight."""
    better = query_syntax.with_signs(line)
    if better == line:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        message = "“-” between blanks and weights such as “3x” are read as words."
        st.caption(f":orange[{message}]", width="content")
        st.button(f"Use {format.plain(better, limit=60)}", key="search-signs", on_click=_put, args=(better,))


def _put(line: str) -> None:
    st.session_state[LINE] = line


def _take_example() -> None:
    """Add the coin of a link as an example to the line."""
    address = st.query_params.get(_LIKE)
    if address:
        st.query_params.pop(_LIKE)
        question = query_syntax.read(st.query_params.get(LINE, ""))
        line = query_syntax.written(replace(question, terms=(*question.terms, Term("like", address))))
        st.session_state[LINE] = line
        st.query_params[LINE] = line  # which is stronger than the session, and is copied as a link
        st.rerun()


def _add_picture(library: Library, content: bytes) -> None:
    try:
        name = store(library, content)
    except BadPicture as error:
        st.session_state[_FAULT] = str(error)
    except MemedexError as error:
        st.session_state[_FAULT] = str(error)
    else:
        question = query_syntax.read(st.session_state.get(LINE) or "")
        known = [term for term in question.terms if (term.source, term.text) != ("picture", name)]
        # `picture` in the line, without a name, has waited for this one.
        waiting = [replace(t, text=name) if t.source == "picture" and not t.text else t for t in known]
        terms = waiting if waiting != known else [*known, Term("picture", name)]
        st.session_state[LINE] = query_syntax.written(replace(question, terms=tuple(terms)))


def _suggest_trends(library: Library, take: Callable[[bytes], None]) -> None:
    """The pictures of the trends folder, each a button that searches with it; nothing if there are none."""
    newest = query_pictures.trending_pictures(library.layout)[:_LOOKED_AT]
    looked = ((path, picture) for path in newest if (picture := _shown_trend(path)))
    found = list(islice(looked, _TRENDS))
    if not found:
        return
    st.caption("Trends: what do we have like this?")
    with st.container(horizontal=True, gap="small"):
        for place, (path, picture) in enumerate(found):
            with st.container(width=_TREND_SIDE):
                st.image(picture, width=_TREND_SIDE, alt=path.stem)
                st.button(
                    "Search",
                    key=f"trend-{place}",
                    width="stretch",
                    on_click=take,
                    args=(picture,),
                    help=f"`{path.name.replace('`', ' ')}`",
                )


def _shown_trend(path: Path) -> bytes | None:
    try:
        return _normal_trend(str(path), path.stat().st_mtime_ns)
    except OSError:
        return None


@st.cache_data(max_entries=_LOOKED_AT, show_spinner=False)
def _normal_trend(path: str, changed: int) -> bytes | None:
    """The picture, checked and encoded like every untrusted one; None if it is not a picture."""
    try:
        return images.normalise(Path(path))
    except BadPicture:
        return None


def picture_well(take: Callable[[bytes], None], *, key: str) -> None:
    """A place to drop, paste or choose a picture; `take` gets its bytes before the page runs."""

    def changed() -> None:
        given = session.sent(key).get("picture")
        if content := _picture_bytes(given):
            take(content)

    _WELL(key=key, on_picture_change=changed)


def _picture_bytes(text: object) -> bytes | None:
    """The bytes of a data URL, within the limit; None for anything else that a browser might send."""
    if (
        not isinstance(text, str)
        or not text.startswith("data:image/")
        or len(text) > _MOST_BYTES * 4 // 3 + 200
    ):
        return None
    try:
        return base64.b64decode(text.partition(",")[2], validate=True) or None
    except ValueError:  # not base64, or not even ASCII
        return None
