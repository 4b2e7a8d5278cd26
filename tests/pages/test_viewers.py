"""Viewers see everything and cannot change anything."""

import errno
from functools import partial

import pytest
from filelock import FileLock

from components.search.box import EXAMPLES
from store.library import Library
from store.settings import settings
from tests.browser.coins import DOG, UNCAPTIONED
from tests.pages.conftest import opened, sendable, words
from tests.pages.test_browse import shown
from tests.pages.test_pages import TITLES

HARMLESS = {"Run check", "Search", "Previous", "Next", *EXAMPLES}


REASONS: dict[str, tuple[str, object]] = {
    "a viewer": ("viewers", "Tester"),
    "a read-only library": ("read_only", True),
    "not among the curators": ("curators", "ann@x.org"),
    "another program writes": ("", None),
}
# All pages for one reason; of the others, the page with most to decide: what pages ask has one answer.
CASES = [*((name, "a viewer") for name in TITLES), *(("approved", reason) for reason in REASONS)]


@pytest.fixture(params=REASONS)
def read_only_library(
    request: pytest.FixtureRequest, library: Library, monkeypatch: pytest.MonkeyPatch
) -> Library:
    name, value = REASONS[request.param]
    if name:
        monkeypatch.setattr(settings(), name, value)
    else:
        monkeypatch.setattr("tests.pages.test_viewers.opened", partial(opened, reading_only=True))
    return library


@pytest.mark.parametrize(
    ("name", "read_only_library"), [*dict.fromkeys(CASES)], indirect=["read_only_library"]
)
def test_no_page_shows_a_button_that_would_change_anything(name: str, read_only_library: Library) -> None:
    app = opened(name)
    assert app.title[0].value == TITLES[name]
    assert "reading only" in words(app)
    shown = {button.label for button in app.button if not button.disabled}
    assert shown <= HARMLESS, shown
    assert sendable() == []


@pytest.mark.parametrize(
    ("address", "read_only_library"),
    [(DOG.address, "a viewer"), (UNCAPTIONED.address, "another program writes")],
    indirect=["read_only_library"],
)
def test_captions_can_be_read_but_not_written(address: str, read_only_library: Library) -> None:
    app = opened("captions", address=address)
    assert {button.label for button in app.button if not button.disabled} <= HARMLESS


def test_pages_open_read_only_on_a_read_only_disk(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    library.close()
    monkeypatch.setattr(FileLock, "acquire", refused)
    app = opened("review")
    assert "reading only" in words(app)
    assert len(shown(app)) == 1
