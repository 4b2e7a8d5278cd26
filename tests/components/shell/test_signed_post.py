"""What a page's script is told when the server's disk refuses."""

import json

import pytest

from components.shell import login as shell_login
from components.shell import logins, tokens
from store.captions.drafts import Drafts
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address


@pytest.mark.parametrize(
    ("is_shared", "words"), [(False, "No space left"), (True, "The server's disk refused it. Error ")]
)
def test_a_refusing_disk_is_named_and_later_the_same_request_succeeds(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch, is_shared: bool, words: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "No space left on device")

    monkeypatch.setattr(shell_login, "listens_farther", lambda: is_shared)
    monkeypatch.setattr(shell_login, "is_permitted", lambda *_, **__: True)
    monkeypatch.setattr(logins, "mark", lambda _: "")
    monkeypatch.setattr(logins, "person", lambda _: "ann")
    page = {
        "token": tokens.signed(library, actor="ann"),
        "address": address(0),
        "draft": {"client": "x", "n": 1},
    }
    with monkeypatch.context() as broken:
        broken.setattr(Drafts, "discard", refuse)
        answer = client.post("/editor/discard", content=json.dumps(page))
        assert answer.status_code == 503
        assert words in answer.text
        assert str(library.layout.root) not in answer.text
    assert client.post("/editor/discard", content=json.dumps(page)).status_code == 200
