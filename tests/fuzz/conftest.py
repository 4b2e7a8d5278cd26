"""A library that all cases of a file share, and a log that no case may write a traceback to."""

import logging
from collections.abc import Iterator

import pytest

from store.chroma.follower import ChromaFollower
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import approved_with_caption, coin, fresh_root
from tests.store.hashed import Hashed


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Coins in every tier; Chroma is off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with open_library(fresh_root(tmp_path_factory.mktemp("fuzz") / "res"), embedder=Hashed()) as library:
            library.add(coin(number) for number in range(6))
            library.promote(approved_with_caption(library, 6, 7)[:1])
            yield library


@pytest.fixture(scope="session", autouse=True)
def _streamlit_is_quiet() -> None:
    """It would warn of each call that there is no browser."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)


@pytest.fixture(autouse=True)
def _no_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    messages = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert not messages, f"logged: {messages[0]}"
