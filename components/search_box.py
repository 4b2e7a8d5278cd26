"""What is asked: words, a picture or an example, and among which coins."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import streamlit as st

from components import picture_well, wording
from store.errors import MemedexError
from store.library import Library
from store.listing import Filter
from store.query import Part

_PICTURE = "search-picture"
EXAMPLES = ("a frog in the rain", "to the moon", "cyberpunk city at night", "sad but funny", "pixel art dog")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parts of a query and its filter; no parts: nothing was asked yet."""

    parts: tuple[Part, ...]
    filter: Filter


def ask(library: Library) -> Asked:
    """The box itself."""
    parts = []
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input(
            "Search",
            key="q",
            bind="query-params",
            type="search",
            icon=":material/search:",
            placeholder="What should be in the picture, what does it mean, how does it look or feel?",
            label_visibility="collapsed",
        )
        with st.container(width=230):
            picture = picture_well.picture(key=_PICTURE)
        chosen = _filter(library)
    if text and text.strip():
        parts.append(Part(text=text))
    if picture:
        parts.append(Part(image=picture))
    example = _example(library)
    if example:
        parts.append(Part(like=example))
    return Asked(tuple(parts), chosen)


def _example(library: Library) -> str | None:
    """The coin that results should be like, with a way to let it go."""
    address = st.query_params.get("like")
    if not address:
        return None
    try:
        record = library.get(address)
    except MemedexError as error:
        st.warning("The example is not there:", icon=":material/link_off:")
        st.text(str(error))
        return None
    if record.tier != "library":
        st.warning(f"{wording.plain(record.name)} is not in the library, so nothing can be compared with it.")
        return None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.image(library.picture(record.address), width=36, alt=f"Picture of {record.name}")
        st.markdown(f"More like **{wording.plain(record.name)}**", width="content")
        st.button("Remove", icon=":material/close:", help="Search without this example", on_click=_unlike)
    return record.address


def _unlike() -> None:
    st.query_params.pop("like", None)


def _filter(library: Library) -> Filter:
    everything = Filter(tier="library")
    with st.popover("Filter", icon=":material/filter_alt:"):
        tags = st.multiselect("Tags", list(library.tag_counts(everything)), key="tags", bind="query-params")
        categories = st.multiselect(
            "Categories", list(library.category_counts(everything)), key="categories", bind="query-params"
        )
        since = st.date_input("Created since", None, key="since", bind="query-params")
        until = st.date_input("Created until", None, key="until", bind="query-params")
    return Filter(
        tier="library",
        tags=tuple(tags),
        categories=tuple(categories),
        since=_second(since, time.min),
        until=_second(until, time.max),
    )


def _second(day: object, of: time) -> int | None:
    return int(datetime.combine(day, of, UTC).timestamp()) if isinstance(day, date) else None


def told(chosen: Filter) -> str:
    """The filter in words, as Markdown; "" for none."""
    parts = [wording.plain(label) for label in (*chosen.tags, *chosen.categories)]
    for word, moment in (("since", chosen.since), ("until", chosen.until)):
        if moment is not None:
            parts.append(f"created {word} {datetime.fromtimestamp(moment, UTC):%Y-%m-%d}")
    return f"only {', '.join(parts)}" if parts else ""


def invite() -> None:
    """What an empty box says: some questions to begin with."""
    st.caption("Describe a coin, show a picture, or start from one of these:")
    with st.container(horizontal=True, gap="small"):
        for example in EXAMPLES:
            st.button(example, on_click=_try, args=(example,))


def _try(example: str) -> None:
    st.session_state["q"] = example


def refuse_picture(reason: str) -> None:
    """Say in a box what is wrong with the picture that was shown."""
    st.error("This picture cannot be searched with:", icon=":material/broken_image:")
    st.text(reason)
