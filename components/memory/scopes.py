"""Facts about a world, a session or a protocol, and actions on all of it."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from components.memory import tree
from components.memory.kinds import counted
from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button, Sent
from components.shell.session import resources
from store import MemedexError, Memory
from store.errors import NotPermitted


def about(memory: Memory, kind: str, scope: str) -> None:
    """A few lines above the table."""
    if kind == "world_lore":
        _world(memory, scope)
    elif kind == "documents":
        _papers(memory, scope)
    elif kind == "session_memory" and memory.can_write:
        _forgetting(memory, scope)
    elif kind == "transcript_vectors":
        _recorded(memory, scope)


def _world(memory: Memory, id: str) -> None:
    world = next((one for one in memory.lore.worlds() if one.id == id), None)
    if world is None:
        st.caption("This world has no file; its lore was added here.")
        return
    st.markdown(f"**{format.plain(world.name)}** · {format.plain(world.file)}")
    if world.start_message.strip():
        st.text(world.start_message)


def _papers(memory: Memory, protocol: str) -> None:
    for source in memory.documents.sources():
        if source.protocol != protocol:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            without_text = f" · without text: {source.bare_pages}" if source.bare_pages else ""
            facts = f"{format.counted(source.pages, 'page')}{without_text}"
            imported = f"imported {format.ago(source.imported_at)}"
            st.markdown(f"**{format.plain(source.source)}** · {facts} · {imported}", width="stretch")
            if memory.can_write and source.original and not source.knows_sections:
                forms.button(
                    f"sections-{source.id}", resources.library(),
                    partial(memory.documents.find_sections, source),
                    button=Button("Find sections", icon="toc", kind="tertiary"),
                    message="Its passages have their headings; texts and citations are as before.",
                )  # fmt: skip
            remove = partial(memory.documents.remove_document, source.protocol, source.source)
            _removing(memory, f"remove-{source.id}", remove, "Remove")


def _removing(memory: Memory, form: str, verb: Callable[..., object], label: str) -> None:
    def remove(sent: Sent) -> str:
        verb(decision=sent.decision)
        return "Removed; undo brings it back."

    if memory.can_write:
        button = Button(label, icon="delete", kind="tertiary")
        forms.show(form, resources.library(), remove, button=button)


def _recorded(memory: Memory, session: str) -> None:
    for one in memory.transcripts.sessions():
        if one["session_id"] != session:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            since, until = ((one[end] or "")[:16].replace("T", " ") for end in ("since", "until"))
            models = f" · {format.plain(', '.join(one['models']))}" if one["models"] else ""
            facts = f"{format.counted(one['messages'], 'message')} · {since} to {until}{models}"
            project, user = format.plain(one["project_slug"] or "no project"), format.plain(one["user_id"])
            name = f"**{format.plain(one['title'])}** · {project}" if one["title"] else f"**{project}**"
            st.markdown(f"{name} · {user} · {facts}", width="stretch")
            remove = partial(memory.transcripts.remove_session, session, user_id=one["user_id"])
            _removing(memory, f"remove-{one['user_id']}-{session}", remove, "Remove session")
    _related(memory, session)


def _related(memory: Memory, session: str) -> None:
    """Links to the session that this one belongs to, and to its helpers and versions."""
    if not (related := memory.transcripts.related(session)):
        return
    with st.container(horizontal=True, gap="small"):
        for one in related:
            is_above = session.startswith(f"{one}/")
            label = "Belongs to" if is_above else "Version" if "/version-" in one else "Helper"
            own = one.removeprefix(f"{session}/").removeprefix("version-").removeprefix("agent-")
            name = format.plain(one if is_above else own)
            st.button(
                f"{label} {name}", key=f"related-{one}", type="tertiary",
                icon=":material/arrow_upward:" if is_above else ":material/subdirectory_arrow_right:",
                on_click=tree.open_session, args=(one,),
            )  # fmt: skip


def _forgetting(memory: Memory, key: str) -> None:
    """Delete a session's memory for good."""
    with st.popover("Delete session permanently", icon=":material/delete_forever:"):
        st.markdown(
            "Its texts, vectors, history and every copy in any file are removed. **This cannot be undone.**"
        )
        is_gone = _forget_button(memory, [key], "Delete this key")
        parts = key.split("_")
        for first in range(1, len(parts)):  # a character's name may hold an underscore as well
            session = "_".join(parts[first:])
            if len(keys := memory.session_memory.keys_of(session)) > 1:
                label = f"Delete all {len(keys)} keys of {session}"
                is_gone |= _forget_button(memory, keys, label)
    if is_gone:
        st.session_state.pop("scope_session_memory", None)


def _forget_button(memory: Memory, keys: list[str], label: str) -> bool:
    send = partial(_forget, memory, keys)
    return forms.show(f"forget-{label}", resources.library(), send, button=Button(label))


def _forget(memory: Memory, keys: list[str], sent: Sent) -> str:
    try:
        for key in keys:
            memory.session_memory.delete_session_memory(key, decision=sent.decision)
    except NotPermitted:
        raise
    except MemedexError as error:
        raise MemedexError(f"Not deleted yet: {error}") from error
    done = memory.log.get(sent.decision)
    return f"{counted('session_memory', done.count if done else 0)} permanently deleted, from every file."
