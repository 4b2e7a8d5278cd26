"""Overview: the start of an empty library, and its inbox."""

import pytest

from store.library import Library
from store.settings import settings
from tests.pages.conftest import opened, words


def test_an_inbox_with_the_name_of_nobody_does_not_exist(
    empty: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_INBOX", "~nobody-of-this-name/in")
    settings.cache_clear()
    assert "This folder does not exist" in words(opened(""))
