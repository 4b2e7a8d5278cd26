"""Four facets and tags of one record, to read and to write."""

from dataclasses import dataclass

import streamlit as st

from components import keeper, resources, state, wording
from store.library import Library
from store.records import CAPTION_FACETS, REQUIRED_FACETS, Facet, Record

FORM = "caption-form"
SAVE = "caption-save"
_OWN = "caption-own"  # address → what this browser session has written last and neither saved nor discarded


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a facet is for (reference 1, "Caption Type Deep Dive")."""

    label: str
    asks: str
    weight: int
    example: str


PURPOSES: dict[Facet, Purpose] = {
    "entity": Purpose(
        "Entity",
        "What is in it: characters, things, what they do and where.",
        4,
        "A frog in a raincoat on a lily pad, holding a tiny umbrella; a coin lies in the water beside it.",
    ),
    "context": Purpose(
        "Context",
        "What it means: which meme, which culture, what is ironic.",
        3,
        "Plays on the frog memes of imageboards and on “buying the dip”: the rain is the falling market.",
    ),
    "visual": Purpose(
        "Visual",
        "How it looks: style, colours, composition. Empty when unremarkable.",
        2,
        "Flat pixel art in teal and mustard, centred, thick outlines, no lettering.",
    ),
    "emotions": Purpose(
        "Emotions",
        "How it feels: tone, humour, energy. Empty when neutral.",
        1,
        "Melancholy but cosy; deadpan humour; patient.",
    ),
}


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the form."""

    caption: dict[Facet, str]
    tags: list[str]
    revision: int  # of the record when this was begun


def written(library: Library, record: Record) -> Written:
    """The draft of this record, or what is stored where there is none."""
    draft = library.draft(record.address)
    if not draft:
        return stored(record)
    caption = {facet: draft.get(facet, "") for facet in CAPTION_FACETS}
    tags = [tag for tag in draft.get("tags", "").split(",") if tag]
    return Written(caption, tags, int(draft.get("revision", record.revision)))


def stored(record: Record) -> Written:
    """What the record itself says."""
    return Written(
        {facet: record.caption.get(facet, "") for facet in CAPTION_FACETS}, record.tags, record.revision
    )


def keep(library: Library, record: Record, text: Written) -> None:
    """Store this as the draft of the record."""
    fields: dict[str, str] = {"tags": ",".join(text.tags), "revision": str(text.revision)}
    fields |= {str(facet): words for facet, words in text.caption.items()}
    library.save_draft(record.address, fields)


def is_changed(library: Library, record: Record) -> bool:
    """Whether the draft says something else than the record."""
    now = written(library, record)
    return (now.caption, now.tags) != (stored(record).caption, record.tags)


def show(library: Library, record: Record) -> None:
    """The form; each change is kept as a draft on the server, and committed by Save."""
    start = written(library, record)
    with st.container(key=FORM, gap="small"):
        for facet in CAPTION_FACETS:
            _facet(library, record, facet, start)
        _tags(library, record, start)
    keeper.keep(form=FORM, save=SAVE)


def _key(record: Record, field: str) -> str:
    turn = st.session_state.get("caption-turn", 0)
    return f"caption.{record.address}.{record.revision}.{turn}.{field}"


def begin_again() -> None:
    """Fill the form from the draft (or the record) again, instead of from what the browser holds."""
    st.session_state["caption-turn"] = st.session_state.get("caption-turn", 0) + 1


def _facet(library: Library, record: Record, facet: Facet, start: Written) -> None:
    purpose, key = PURPOSES[facet], _key(record, facet)
    st.session_state.setdefault(key, start.caption[facet])
    with st.container(gap="xsmall"):
        needed = " :primary-badge[required]" if facet in REQUIRED_FACETS else ""
        st.markdown(f"**{purpose.label}** :gray-badge[weight {purpose.weight}]{needed} :gray[{purpose.asks}]")
        text = st.text_area(
            purpose.label,
            key=key,
            height="content",
            placeholder=f"For example: {purpose.example}",
            label_visibility="collapsed",
            disabled=not library.can_write,
            on_change=_keep,
            args=(library, record, start.revision),
        )
        if text and text.strip():
            st.caption(_measure(library, text))


def _measure(library: Library, text: str) -> str:
    """Characters, tokens, and how a text longer than the model reads is embedded."""
    characters = wording.counted(len(text), "character")
    if resources.status(library).model_status != "ready":
        return f"{characters} · tokens are counted once the model is ready"
    embedder = library.embedder
    tokens, limit = embedder.count_tokens(text), embedder.token_limit
    if tokens <= limit:
        return f"{characters} · {tokens:,} of {limit:,} tokens"
    how = f"the model reads {limit:,} at a time, so windows of it are embedded and averaged"
    return f"{characters} · :yellow[{tokens:,} tokens]: {how}"


def _tags(library: Library, record: Record, start: Written) -> None:
    key = _key(record, "tags")
    st.session_state.setdefault(key, start.tags)
    known = resources.taxonomy().tags
    chosen = st.multiselect(
        "Tags",
        options=[*known, *(tag for tag in st.session_state[key] if tag not in known)],
        key=key,
        accept_new_options=True,
        placeholder="Choose from the taxonomy, or type a new one",
        disabled=not library.can_write,
        on_change=_keep,
        args=(library, record, start.revision),
    )
    categories = resources.taxonomy().categories(chosen)
    st.caption("Categories: " + (wording.plain(", ".join(categories), limit=300) if categories else "none"))


def _keep(library: Library, record: Record, revision: int) -> None:
    """Store what stands in the form as the draft of this record."""
    text = Written(*_in_form(record), revision)
    keep(library, record, text)
    st.session_state.setdefault(_OWN, {})[record.address] = text


def rescue(library: Library, record: Record) -> None:
    """Bring back this session's words when somebody else's save took the one draft of the coin."""
    if not library.can_write:
        return
    own = st.session_state.get(_OWN, {}).get(record.address)
    if own and own.revision != record.revision and not library.draft(record.address):
        keep(library, record, own)


def _in_form(record: Record) -> tuple[dict[Facet, str], list[str]]:
    caption: dict[Facet, str] = {
        facet: st.session_state.get(_key(record, facet)) or "" for facet in CAPTION_FACETS
    }
    tags = [tag.strip().replace(",", " ") for tag in st.session_state.get(_key(record, "tags"), [])]
    return caption, [tag for tag in tags if tag]


def bar(library: Library, record: Record) -> None:
    """Save and discard, and whether anything is to be saved; above the form, always in sight."""
    if not library.can_write:
        return
    changed = is_changed(library, record)
    st.button(
        "Save",
        key=SAVE,
        type="primary",
        icon=":material/save:",
        help="Ctrl-S. Embeds again only what changed.",
        on_click=save,
        args=(library, record),
    )
    st.button(
        "Discard",
        disabled=not changed,
        help="Back to what is stored.",
        on_click=discard,
        args=(library, record),
    )
    st.caption("Kept as a draft, not saved yet" if changed else "Saved", width="stretch")


def save(library: Library, record: Record) -> None:
    """Commit what stands in the form, unless the record was changed since it was begun."""
    caption, tags = _in_form(record)
    base = written(library, record).revision
    keep(library, record, Written(caption, tags, base))
    outcome = library.caption(record.address, caption=_meant(caption, record), tags=tags, revision=base)
    if outcome.refused:
        state.say(wording.plain(outcome.refused[0].reason, limit=300), icon=":material/error:")
        return
    discard(library, record)
    state.say(f"Saved the caption of {wording.plain(record.name)}.", icon=":material/check:")


def _meant(caption: dict[Facet, str], record: Record) -> dict[Facet, str]:
    """Without the facets that are empty and were never written: absent means not written yet."""
    return {facet: text.strip() for facet, text in caption.items() if text.strip() or facet in record.caption}


def discard(library: Library, record: Record) -> None:
    """Forget the draft."""
    library.discard_draft(record.address)
    st.session_state.get(_OWN, {}).pop(record.address, None)
    begin_again()
