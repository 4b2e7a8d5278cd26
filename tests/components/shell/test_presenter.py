"""While somebody presents, the server sends numbers in place of people's names."""

import pytest

from components.shell import presenter
from store.demo import WHO
from store.settings import settings

PRESENTS = {presenter.SWITCH.cookie: "1"}


def test_names_are_numbers_the_same_for_every_request_and_none_of_them_twice() -> None:
    with presenter.request(PRESENTS):
        first, second = presenter.name("ann@x.org"), presenter.name("bob@x.org")
    with presenter.request(PRESENTS):
        assert presenter.name("ann@x.org") == first != second
        assert first.startswith("Reviewer ")
        assert (presenter.name(""), presenter.name(WHO)) == ("", WHO)
    with presenter.request({}):
        assert presenter.name("ann@x.org") == "ann@x.org"


def test_the_setting_presents_to_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "presenter", True)
    with presenter.request({}):
        assert presenter.is_on()
    with presenter.request({presenter.SWITCH.cookie: "0"}):
        assert not presenter.is_on()
