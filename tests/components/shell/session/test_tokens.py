"""A token is of one library, person, session and hour."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import runtime

from components.shell.session import logins, tokens
from store.library import Library
from store.runtime import open_library
from tests.components.claims import assert_accepted, assert_refused, claims
from tests.components.conftest import Client
from tests.store.conftest import fresh_root
from tests.store.hashed import Hashed


@pytest.fixture(autouse=True)
def _clear_ended_logins() -> Iterator[None]:
    yield
    logins._ended.clear()
    tokens._seen.clear()


def test_a_token_of_another_library_or_of_a_copy_is_refused(
    client: Client, library: Library, tmp_path: Path
) -> None:
    with open_library(fresh_root(tmp_path / "other"), embedder=Hashed()) as other:
        assert_refused(client, library, tokens.signed(other, actor="ann@x.org"), status={403})

    class Copy:
        """Its catalog, secret included, lies in another folder."""

        secret = library.secret
        id = "of a copy"

    assert_refused(client, library, tokens.signed(Copy(), actor="ann@x.org"), status={403})  # type: ignore[arg-type]


def test_an_old_token_is_refused(client: Client, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tokens.signed(library, actor="ann@x.org")
    now = time.time()
    monkeypatch.setattr(tokens.time, "time", lambda: now + tokens.LIFETIME + 1)
    assert_refused(client, library, old, status={401})
    assert_accepted(client, library, tokens.signed(library, actor="ann@x.org"))


def test_a_token_stays_the_same_for_an_hour(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    for minutes in (0, 1, 59, 60):
        monkeypatch.setattr(tokens.time, "time", lambda minutes=minutes: 1_800_000_000 + 60.0 * minutes)
        given.append(tokens.signed(library, actor="ann@x.org", session="here", claims=claims(iat=1, exp=2e9)))
    assert given[0] == given[1] == given[2] != given[3]


def test_a_token_ends_shortly_after_its_session(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    active = {"a tab"}

    class Running:
        def is_active_session(self, session: str) -> bool:
            return session in active

    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", Running)
    token = tokens.signed(library, actor="ann@x.org", session="a tab")
    active.clear()
    now = time.monotonic()
    monkeypatch.setattr(tokens, "_clock", lambda: now + 300)
    assert_refused(client, library, token, status={401})
    assert_refused(client, library, tokens.signed(library, actor="ann@x.org", session="none"), status={401})
    monkeypatch.setattr(tokens, "_clock", lambda: now + 5)
    assert_accepted(client, library, token)
