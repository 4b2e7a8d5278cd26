"""The line above the grid, the drawer that writes into it, and the orders."""

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.grid.matching import addresses
from store.errors import InvalidRecord
from store.library import Library
from store.progress import Progress
from store.settings import settings
from tests.browser.coins import PENDING
from tests.pages.conftest import opened, press, ran, words
from tests.store.conftest import address, coin


@pytest.fixture
def two(library: Library) -> Library:
    """Two more pending coins, from a list."""
    library.add([coin(0, tags=["dog", "nsfw"]), coin(1)], source="my list.json")
    return library


def with_drawer(**query: str) -> AppTest:
    """The page with its filters unfolded."""
    app = opened("pending", **query)
    app.session_state["pending-filters"] = True
    return ran(app)


def line(app: AppTest) -> str:
    return str(app.text_input(key="pending_words").value)


def shown(app: AppTest) -> list[str]:
    """The addresses of the cards, in their order."""
    [grid] = [part for part in app.get("bidi_component") if part.proto.component_name == "memedex.grid"]
    return re.findall(r'"address": ?"([^"]+)"', str(grid.proto.json))


def matching(app: AppTest) -> dict[str, Any]:
    """What the page may choose at once."""
    [grid] = [part for part in app.get("bidi_component") if part.proto.component_name == "memedex.grid"]
    return dict(json.loads(grid.proto.json)["matching"])


def test_the_line_filters_as_the_controls_do_and_a_link_holds_it(two: Library) -> None:
    assert "No matches." in words(opened("pending", pending_words="tag:dog tag:cat"))
    assert "No matches." not in words(opened("pending", pending_words="-tag:dog"))


def test_a_filter_that_is_not_understood_shows_nothing_and_offers_the_nearest(two: Library) -> None:
    app = opened("pending", pending_words="tagg:dog")
    assert shown(app) == []
    assert "Unknown filter 'tagg'. Did you mean tag:?" in app.warning[0].value.replace("\\", "")
    assert matching(app)["count"] == 0
    assert addresses(two, matching(app)) == [], "nothing can be done to all that match"
    press(app, "Use tag\\:dog")
    assert line(app) == "tag:dog"
    assert set(shown(app)) == {address(0), address(1)}

    app = opened("pending", pending_words="-tag:dog dup:maybe")
    assert "takes yes or no" in app.warning[0].value
    assert shown(app) == []
    press(app, "Clear filters")
    assert len(shown(app)) == 3


def test_the_drawer_shows_counts_of_what_passes_and_writes_into_the_line(two: Library) -> None:
    app = with_drawer(pending_words="coin")
    assert app.pills(key="pending-by-tag").options == ["dog · 2", "nsfw · 1"]
    app.pills(key="pending-by-tag").set_value(["dog"])
    ran(app)
    app.selectbox(key="pending-by-source").select("my list.json")
    ran(app)
    app.segmented_control(key="pending-by-dup").set_value("Unlike any other")
    ran(app)
    assert line(app) == 'coin tag:dog source:"my list.json" dup:no'
    app.toggle(key="pending-mine").set_value(True)
    ran(app)
    assert line(app).endswith("by:me decided:today")
    assert "No matches." in words(app)
    app.toggle(key="pending-mine").set_value(False)
    ran(app)
    app.pills(key="pending-by-tag").set_value([])
    assert line(ran(app)) == 'coin source:"my list.json" dup:no'


def test_days_in_the_drawer_are_those_of_the_line(two: Library) -> None:
    app = with_drawer(pending_words="after:2023-11 before:2024")
    assert str(app.date_input(key="pending-by-after").value) == "2023-11-01"
    assert str(app.date_input(key="pending-by-before").value) == "2023-12-31"
    app.date_input(key="pending-by-before").set_value("2023-11-30")
    assert line(ran(app)) == "after:2023-11 before:2023-12-01"


def test_what_i_decided_today_and_where_coins_came_from(two: Library) -> None:
    two.approve([address(0)])
    two.send_back([address(0)])
    two.approve([address(1)], actor="ann")
    two.send_back([address(1)], actor="ann")
    assert shown(opened("pending", pending_words="by:me decided:today")) == [address(0)]
    assert shown(opened("pending", pending_words="by:ann")) == [address(1)]
    assert set(shown(opened("pending", pending_words='source:"my list.json"'))) == {address(0), address(1)}
    two.undo()
    two.undo()
    assert shown(opened("pending", pending_words="by:me")) == []


def test_a_filter_is_kept_under_a_name_opened_also_by_its_link_and_forgotten(two: Library) -> None:
    app = with_drawer(pending_words="tag:nsfw decided:today")
    app.text_input(key="pending-filter-name").input("not safe")
    press(app, "Save filter")
    assert two.filters.all() == {"not safe": "tag:nsfw decided:today"}

    app = with_drawer()
    app.button(key="pending-saved-not safe").click()
    assert line(app.run()) == "tag:nsfw decided:today"
    app.button(key="pending-forget-not safe").click()
    ran(app)
    assert two.filters.all() == {}

    two.filters.save("dogs", "tag:dog")
    linked = opened("pending", filter="dogs")
    assert line(linked) == "tag:dog"
    assert "filter" not in linked.query_params
    gone = opened("pending", filter="cats")
    assert [toast.value for toast in gone.toast] == ["There is no saved filter cats."]


def test_a_viewer_opens_saved_filters_but_keeps_none(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.filters.save("dogs", "tag:dog")
    with pytest.raises(InvalidRecord, match="1 to 60"):
        library.filters.save(" ", "tag:dog")
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = with_drawer(pending_words="tag:cat")
    assert [button.label for button in app.button] == ["Reset", "dogs", "Clear filters"]


def test_an_order_by_pictures_holds_still_until_it_is_asked_for_anew(two: Library) -> None:
    two._prefetcher.embed_next(Progress())
    app = opened("pending", pending_sort="Like one coin", pending_like=address(1))
    assert shown(app)[0] == address(1)
    assert len(shown(app)) == 3
    app = opened("pending", pending_sort="Like what was approved")
    before = shown(app)
    two.approve([before[0]])
    assert shown(ran(app)) == before[1:]
    two.undo()
    assert shown(ran(app)) == before
    app.button(key="pending-order-again").click()
    assert set(shown(ran(app))) == set(before)


def test_a_coin_that_is_not_there_orders_nothing_and_says_so(two: Library) -> None:
    app = opened("pending", pending_sort="Like one coin", pending_like="local-gone")
    assert "no record has the address" in words(app)
    assert len(shown(app)) == 3
    assert PENDING.address in shown(opened("pending", pending_sort="Most suspicious"))


def test_all_that_match_a_line_with_a_choice_can_be_chosen_and_no_more(two: Library) -> None:
    app = opened("pending", pending_words="tag:nsfw OR -tag:dog")
    assert set(shown(app)) == {address(0), PENDING.address}
    assert set(addresses(two, matching(app))) == {address(0), PENDING.address}
    app = opened("pending", pending_words="(tag:nsfw")
    assert "( at character 1 is not closed" in words(app).replace("\\", "")
    assert shown(app) == [address(0)]
