"""The language model is chosen, kept and tested in Settings."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.captions.language_model import PROVIDERS
from store.library import Library
from store.settings import settings
from tests.pages.conftest import opened, press, rerun, words
from tests.store.language_model_server import LanguageModelServer, fails, running, says

NAMES = ("MEMEDEX_CAPTION_MODEL", "MEMEDEX_CAPTION_API_BASE", "OPENAI_API_KEY")
LOCAL = PROVIDERS[1]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The `.env` file of a program that was started in an empty folder."""
    for name in NAMES:
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    monkeypatch.setattr("store.settings._FILE", tmp_path / ".env")
    settings.cache_clear()
    yield tmp_path / ".env"
    settings.cache_clear()


@pytest.fixture
def server() -> Iterator[LanguageModelServer]:
    with running() as server:
        yield server


def choose(server: LanguageModelServer, *, key: str = "") -> AppTest:
    app = opened("settings", section="Language model")
    app.selectbox(key="language-model-provider").select(LOCAL)
    rerun(app)
    app.text_input(key=f"language-model-{LOCAL.name}").input("llava")
    app.text_input(key=f"language-model-address-{LOCAL.name}").input(server.address)
    app.text_input(key=f"language-model-key-{LOCAL.name}").input(key)
    rerun(app)
    return press(app, "Use this model")


def test_a_local_server_is_chosen_and_kept_without_a_key(
    empty: Library, file: Path, server: LanguageModelServer
) -> None:
    assert "No language model is chosen" in words(opened("settings", section="Language model"))
    choose(server)
    assert settings().caption_model == "openai/llava"
    assert settings().caption_api_base == server.address
    assert "MEMEDEX_CAPTION_MODEL='openai/llava'" in file.read_text()
    for name in NAMES:
        os.environ.pop(name, None)  # as in another run of the program
    settings.cache_clear()
    assert settings().caption_model == "openai/llava"
    assert os.environ["OPENAI_API_KEY"] == "none"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_key_is_kept_in_the_file_and_never_shown_again(
    empty: Library, file: Path, server: LanguageModelServer
) -> None:
    app = choose(server, key="sk-secret")
    assert "OPENAI_API_KEY='sk-secret'" in file.read_text()
    assert os.environ["OPENAI_API_KEY"] == "sk-secret"
    assert "sk-secret" not in words(app)
    assert "sk-secret" not in words(opened("settings", section="Language model"))


def test_the_test_shows_what_the_model_answers_or_why_it_does_not(
    empty: Library, file: Path, server: LanguageModelServer
) -> None:
    choose(server)
    ready = says("ready")
    ready.streamed = True
    server.answers[:] = [ready]
    app = press(opened("settings", section="Language model"), "Test")
    assert "It answered after" in words(app)
    assert "ready" in words(app)
    server.answers[:] = [fails(404, "no such model")]
    app = press(opened("settings", section="Language model"), "Test")
    assert "is not known there" in words(app)
