"""Pages run in this process, on a library whose model needs no weights."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.shell.page import forms
from components.shell.session import resources, session
from store import close_all
from store.chroma.follower import ChromaFollower
from store.jobs.background_worker import Worker
from store.library import Library
from store.llm.client import import_litellm
from store.memory import demo
from store.memory.memory import Memory
from store.runtime import open_library
from store.settings import settings
from tests import installed_components  # noqa: F401  for what it does
from tests.browser.coins import COINS, PENDING, UNCAPTIONED
from tests.resting_workers import wake_others
from tests.store.conftest import keep_chroma_in_process
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags

OVERVIEW = Path(__file__).resolve().parent.parent.parent / "overview.py"


@pytest.fixture
def chroma() -> None:
    """Chroma is on, as in production."""


@pytest.fixture
def looks() -> None:
    """Pictures are read, embedded and compared in the background, as in production."""


@pytest.fixture(autouse=True)
def _without_looking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "looks" not in request.fixturenames:
        monkeypatch.setattr(Worker, "wake", wake_others)


@pytest.fixture(autouse=True)
def _without_chroma(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is off for every other test: opening it takes longer than the rest of the test."""
    keep_chroma_in_process(monkeypatch)
    if "chroma" not in request.fixturenames:
        monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)


@pytest.fixture(scope="session", autouse=True)
def _litellm() -> None:
    """Not by a page's thread: pytest would exchange the filters of warnings under its import."""
    import_litellm()


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A library without a coin; the pages open this very one."""
    monkeypatch.setenv("MEMEDEX_ROOT", str(tmp_path))
    monkeypatch.setenv("MEMEDEX_USER", "tester")
    settings.cache_clear()
    library = open_library(tmp_path, embedder=Hashed())
    yield library
    library.close()
    close_all()  # the text memory too, if a page opened it
    settings.cache_clear()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with some coins, created once; to be copied, not used directly."""
    root = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMEDEX_USER", "tester")
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        settings.cache_clear()
        with open_library(root, embedder=Hashed()) as library:
            library.add([coin.candidate() for coin in (*COINS, UNCAPTIONED, PENDING)])
            library.approve([coin.address for coin in (*COINS, UNCAPTIONED)])
            assert len(library.promote([coin.address for coin in COINS]).done) == len(COINS)
    settings.cache_clear()
    return root


@pytest.fixture
def _coins(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def library(_coins: None, empty: Library) -> Library:
    """Four coins in the library, one approved, one pending."""
    return empty


def opened(name: str = "", *, reading_only: bool = False, **query: str) -> AppTest:
    """A page as it stands after its first run, opened by its own address."""
    app = AppTest.from_file(str(OVERVIEW), default_timeout=60)
    name, _, view = name.partition("?")
    app.session_state["memedex.read_only"] = reading_only
    if name:
        app.switch_page(f"pages/{name}.py")
    for key, value in {**dict(parse_qsl(view)), **query}.items():
        app.query_params[key] = value
    return rerun(app)


def rerun(app: AppTest) -> AppTest:
    """The page after one more run, which must not have failed."""
    app.run()
    assert not app.exception, app.exception
    return app


def words(app: AppTest) -> str:
    """All that a page says, in one text."""
    kinds = (
        app.title,
        app.header,
        app.markdown,
        app.caption,
        app.text,
        app.info,
        app.success,
        app.warning,
        app.error,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def press(app: AppTest, label: str, **values: Any) -> AppTest:
    """Press the one button of this name; of a form, with these values."""
    own = [form for (_, form), shown in forms._forms.items() if shown.button.label == label]
    found = [button for button in app.button if button.label == label]
    assert len(own) + len(found) == 1, [own, [button.label for button in app.button]]
    if own:
        return send(app, own[0], **values)
    found[0].click()
    return rerun(app)


def send(app: AppTest, form: str, **values: Any) -> AppTest:
    """Send this form of the page as its script does, and run the page. Raises what refuses it."""
    (place,) = (place for place in [*forms._forms] if place[1] == form)
    sent = forms._forms[place]
    assert not sent.button.disabled
    message = sent.send(forms.Sent(forms._checked(sent.fields, values), uuid4().hex))
    forms._confirmed[place] = (forms._confirmed.get(place) or 0) + 1
    if message:
        session.queue_message_of(place[0], message)
    return rerun(app)


def is_locked(form: str) -> bool:
    """Whether this form or button cannot be sent at the moment."""
    (found,) = (shown for place, shown in forms._forms.items() if place[1] == form)
    return found.button.disabled


def sendable() -> list[str]:
    """The forms and buttons that pages have shown and send by themselves."""
    return [form for _, form in forms._forms]


@pytest.fixture(autouse=True)
def _without_forms_of_earlier_tests() -> Iterator[None]:
    yield
    forms._forms.clear()
    forms._confirmed.clear()


def finish_jobs() -> None:
    jobs = resources.library().jobs
    for job in jobs.all():
        assert jobs.wait(job.id, timeout=60)


@pytest.fixture
def empty_memory(empty: Library, tmp_path: Path) -> Iterator[Memory]:
    """A text memory without an entry; the page opens this very one."""
    memory = Memory.open(tmp_path, embedder=Bags())
    yield memory
    memory.close()


@pytest.fixture
def memory(empty_memory: Memory) -> Memory:
    """The demo's text memory."""
    demo.load(empty_memory)
    return empty_memory


def shown(app: AppTest) -> str:
    """All that the page says, cards included."""
    return words(app) + "\n".join(str(card.proto.body) for card in app.get("html"))
