"""The stream that tells pages what changes: for whom, for how long, and how much of it."""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit import runtime

from components.shell.server import current_state, events
from components.shell.server.current_state import State
from components.shell.session import login as shell_login
from components.shell.session import logins, resources, tokens
from store.library import Library
from store.progress import Progress
from store.runtime import open_library
from tests.components.claims import claims
from tests.components.shell.streams import Stream, answer, lived, opened
from tests.store.conftest import address, coin, fresh_root
from tests.store.faulty_disk import clock_set
from tests.store.hashed import Hashed


@pytest.fixture(autouse=True)
def _routes(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(resources, "library_of_routes", lambda: library)
    monkeypatch.setattr(
        events, "watcher", events.StateWatcher(lambda before: current_state.read(library, before))
    )
    monkeypatch.setattr(events, "_EVERY", 3600.0)  # a test looks when it wants to
    yield
    logins._ended.clear()
    tokens._seen.clear()


@pytest.fixture
def open_sessions(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Sessions whose page is open."""
    sessions = {"here", "there"}

    class Running:
        def is_active_session(self, session: str) -> bool:
            return session in sessions

    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", Running)
    return sessions


async def greeted(library: Library, session: str = "") -> Stream:
    """Ann's stream, whose first message was heard."""
    stream = await opened(tokens.signed(library, actor="ann@x.org", session=session))
    await stream.news()
    return stream


@lived
async def test_the_first_message_has_everything_and_the_next_only_what_changed(library: Library) -> None:
    stream = await opened(tokens.signed(library, actor="ann@x.org", session=""))
    first = await stream.news()
    assert first["generation"] == library.generation
    assert first["pending"] == 6
    assert first["badges"] == []
    library.approve([address(0)])
    await events.watcher.read_state()
    news = await stream.news()
    assert (news["generation"], news["pending"]) == (library.generation, 5)
    assert "jobs" not in news


@lived
async def test_nothing_is_told_while_nothing_changes_but_a_run_of_the_page_is_answered(
    library: Library,
) -> None:
    stream = await opened(tokens.signed(library, actor="ann@x.org", session=""))
    first = await stream.news()
    for _ in range(3):
        await events.watcher.read_state()
    events.watcher.page_ran("")
    await events.watcher.read_state()
    news = await stream.news()
    assert list(news) == ["at"]
    assert news["at"] > first["at"]


@lived
async def test_what_is_decided_here_is_told_before_the_next_reading_is_due(library: Library) -> None:
    stream = await greeted(library)
    library.approve([address(0)])
    events.watcher.hurry()
    assert (await stream.news())["pending"] == 5


@lived
async def test_a_stream_that_has_nothing_to_tell_gives_a_sign_of_life(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = await greeted(library)
    monkeypatch.setattr(events, "_HEARTBEAT", 0.01)
    assert (await anext(stream.pieces)).startswith(":")


@lived
async def test_without_a_token_of_this_library_there_is_no_stream(library: Library, tmp_path: Path) -> None:
    with open_library(fresh_root(tmp_path / "other"), embedder=Hashed()) as other:
        foreign = tokens.signed(other, actor="ann@x.org", session="")
    for token in (None, "", "x.y", foreign):
        assert (await answer(token)).status_code == 403


@lived
async def test_a_stream_ends_with_its_session_and_another_cannot_be_opened(
    library: Library, open_sessions: set[str]
) -> None:
    token = tokens.signed(library, actor="ann@x.org", session="here")
    stream = await opened(token)
    await stream.news()
    open_sessions.remove("here")  # as when the tab is closed, or the server ends
    await events.watcher.read_state()
    assert await stream.is_over()
    assert (await answer(tokens.signed(library, actor="ann@x.org", session="nobody"))).status_code == 401


@lived
async def test_a_stream_ends_with_its_login(
    library: Library, open_sessions: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_login, "listens_farther", lambda: True)
    login = claims()
    token = tokens.signed(library, actor="ann@x.org", session="here", claims=login)
    assert (await answer(token)).status_code == 401, "without its cookie"
    other_tab = tokens.signed(library, actor="ann@x.org", session="there", claims=login)
    streams = [await opened(each, login=login) for each in (token, other_tab)]
    for stream in streams:
        await stream.news()
    logins.end(login, session="here")
    await events.watcher.read_state()  # nothing else happened
    for stream in streams:
        assert await stream.is_over()
    assert (await answer(token, login=login)).status_code == 401


@lived
async def test_a_stream_ends_at_its_time_although_its_token_names_no_login(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow = partial(events.watcher.follow, expires=time.time())
    monkeypatch.setattr(events.watcher, "follow", lambda *given, expires, **more: follow(*given, **more))
    stream = await opened(tokens.signed(library, actor="ann@x.org", session=""))
    assert await stream.is_over()


@lived
async def test_a_stream_ends_when_its_login_expires_though_nothing_is_told_and_nobody_asks(
    library: Library, open_sessions: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_login, "listens_farther", lambda: True)
    monkeypatch.setattr(events, "_HEARTBEAT", 3600.0)
    login = claims()
    follow, moments = events.watcher.follow, list[float]()

    def shortened(*given: Any, expires: float, **more: Any) -> AsyncIterator[str]:
        moments.append(expires)
        return follow(*given, expires=time.time(), **more)

    monkeypatch.setattr(events.watcher, "follow", shortened)
    stream = await opened(
        tokens.signed(library, actor="ann@x.org", session="here", claims=login), login=login
    )
    monkeypatch.setattr(logins, "expires", lambda _: 0.0)  # as when that moment has come
    assert await stream.is_over()
    assert moments == [login["exp"]]


@lived
async def test_a_session_has_one_stream_and_the_server_no_more_than_it_can_bear(
    library: Library, open_sessions: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST", 1)
    token = tokens.signed(library, actor="ann@x.org", session="here")
    first = await opened(token)
    await first.news()
    second = await opened(token)
    assert await first.is_over()
    await second.news()
    other = tokens.signed(library, actor="ann@x.org", session="there")
    assert (await answer(other)).status_code == 503
    await second.pieces.aclose()  # type: ignore[attr-defined]
    await opened(other)


def test_a_person_sees_only_their_own_model_output(library: Library) -> None:
    state = current_state.read(library) | {"answers": {"ann@x.org": {"7": "A cat"}}}
    assert current_state.for_person(state, "ann@x.org")["answers"] == {"7": "A cat"}
    assert current_state.for_person(state, "eve@x.org")["answers"] == {}


def test_a_job_is_told_with_its_progress(library: Library) -> None:
    def look(progress: Progress) -> None:
        progress.total, progress.done = 4, 1
        states.append(current_state.read(library))

    states: list[State] = []
    job = library.jobs.run("Import list.json", look)
    assert library.jobs.wait(job.id, timeout=60)
    [bar] = states[0]["bars"]
    assert (bar["id"], bar["name"], bar["fraction"], bar["pausable"]) == (
        job.id,
        "Import list.json",
        0.25,
        False,
    )
    assert states[0]["jobs"] == f"{job.id} #{job.id}"
    assert current_state.read(library)["jobs"] == f" #{job.id}"


def test_there_is_a_badge_only_for_what_is_wrong(library: Library) -> None:
    status = replace(resources.status(library), chroma_place="", chroma_fault="", chroma_behind=1_280)
    assert current_state.badges(status) == []
    broken = replace(status, chroma_fault="the folder is gone")
    assert [badge["label"] for badge in current_state.badges(broken)] == ["Indexing failed"]


def test_counts_are_read_only_after_a_change(library: Library) -> None:
    before = {**current_state.read(library), "pending": 99}
    assert current_state.read(library, before)["pending"] == 99
    library.add([coin(50)])
    assert current_state.read(library, before)["pending"] == 7


@lived
async def test_a_library_that_cannot_be_read_for_a_moment_ends_no_stream(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = await greeted(library)
    read = events.watcher._read
    monkeypatch.setattr(events.watcher, "_read", lambda _: 1 / 0)
    await events.watcher.read_state()
    monkeypatch.setattr(events.watcher, "_read", read)
    library.approve([address(0)])
    await events.watcher.read_state()
    assert (await stream.news())["pending"] == 5


def test_a_clock_that_is_set_back_keeps_no_news_from_an_open_page() -> None:
    before = current_state.now()
    with clock_set(-86_400):
        assert current_state.now() > before
    with clock_set(366 * 86_400):
        assert current_state.now() < before + 60


def test_an_answer_is_in_the_state_while_it_is_written(library: Library) -> None:
    written, go_on = threading.Event(), threading.Event()

    def write(progress: Progress) -> None:
        progress.answer = "Mira lights"
        written.set()
        go_on.wait(60)

    job = library.jobs.run("Ask", write)
    assert written.wait(60)
    try:
        assert current_state.read(library)["answers"] == {job.actor: {str(job.id): "Mira lights"}}
    finally:
        go_on.set()
    assert library.jobs.wait(job.id, timeout=60)
    assert current_state.read(library)["answers"] == {}


@pytest.mark.parametrize("asked", ["its permission", "its session"])
@lived
async def test_what_fails_for_one_stream_ends_it_and_the_others_are_told_all_the_same(
    library: Library, open_sessions: set[str], asked: str
) -> None:
    def no_handles() -> bool:
        raise OSError("too many open files")

    streams = {session: await greeted(library, session) for session in sorted(open_sessions)}
    with pytest.MonkeyPatch.context() as patch:
        if asked == "its permission":
            patch.setattr(events.watcher._streams["here"], "still_permitted", no_handles)
        else:
            patch.setattr(tokens, "is_open", lambda session: session != "here" or no_handles())
        library.approve([address(0)])
        await events.watcher.read_state()
    assert await streams["here"].is_over()
    assert (await streams["there"].news())["pending"] == 5


@lived
async def test_pages_are_told_later_if_no_thread_can_be_had_for_a_moment(library: Library) -> None:
    async def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    stream = await greeted(library)
    library.approve([address(0)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "run_in_threadpool", no_thread)
        await events.watcher.read_state()
    await events.watcher.read_state()
    assert (await stream.news())["pending"] == 5
