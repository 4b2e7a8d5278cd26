"""What a browser sends as the state of the list of captions, and of the editor."""

from typing import Any

import pytest
import streamlit as st

from components.editor import editor, rows
from components.shell.server import messages
from components.shell.session import session
from store.library import Library
from tests.store.conftest import address


@pytest.mark.parametrize("state", [None, [], {"go": []}, {"go": {}, "left": {}}, {"go": 7, "left": [[], 1]}])
def test_a_malformed_state_leads_nowhere(
    library: Library, monkeypatch: pytest.MonkeyPatch, state: object
) -> None:
    def component(*, on_go_change: Any, **_: Any) -> None:
        on_go_change()

    monkeypatch.setattr(st, "session_state", {"rows": state, editor.KEY: state})
    monkeypatch.setattr(rows, "_component", component)
    monkeypatch.setattr(editor, "_component", component)
    monkeypatch.setattr(messages, "server", lambda _: {})
    went: list[str] = []
    row = rows.EditorRow("key", library.get(address(0)), "a label")
    assert rows.show_rows("rows", library, [row], go=went.append, choose=True) == set()
    editor.show(library, library.get(address(0)), go=went.append)
    assert went == []
    assert session.sent("rows") == (state if isinstance(state, dict) else {})
