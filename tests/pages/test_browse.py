"""The filter line above the grid, the drawer that writes into it, and sorting."""

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
from tests.pages.conftest import opened, press, rerun, send, words
from tests.store.conftest import address, coin


@pytest.fixture
def extended_library(library: Library) -> Library:
    """Two more pending coins, from a list."""
    library.add([coin(0, tags=["dog", "nsfw"]), coin(1)], source="my list.json")
    return library


def open_with_drawer(**query: str) -> AppTest:
    """The page with its filter drawer open."""
    app = opened("review", **query)
    app.session_state["pending-filters"] = True
    return rerun(app)


def line(app: AppTest) -> str:
    return line_of(app, "pending")


def line_of(app: AppTest, page: str) -> str:
    return str(app.text_input(key=f"{page}_words").value)


def shown(app: AppTest) -> list[str]:
    """The addresses of the cards, in their order."""
    [grid] = [part for part in app.get("bidi_component") if part.proto.component_name == "memedex.grid"]
    return re.findall(r'"address": ?"([^"]+)"', str(grid.proto.json))


def cards(app: AppTest) -> list[dict[str, Any]]:
    """The cards as the page sends them."""
    [grid] = [part for part in app.get("bidi_component") if part.proto.component_name == "memedex.grid"]
    return list(json.loads(grid.proto.json)["cards"])


def matching(app: AppTest) -> dict[str, Any]:
    """The selection of all matching coins that the page offers."""
    [grid] = [part for part in app.get("bidi_component") if part.proto.component_name == "memedex.grid"]
    return dict(json.loads(grid.proto.json)["matching"])


@pytest.mark.slow
def test_a_link_opens_the_page_with_its_filter_line(extended_library: Library) -> None:
    assert "No matches." in words(opened("review", pending_words="tag:dog tag:cat"))
    assert "No matches." not in words(opened("review", pending_words="-tag:dog"))


def test_an_unknown_filter_shows_no_coins_and_suggests_a_correction(extended_library: Library) -> None:
    app = opened("review", pending_words="tagg:dog")
    assert shown(app) == []
    assert "Unknown filter 'tagg'. Did you mean tag:?" in app.warning[0].value.replace("\\", "")
    assert matching(app)["count"] == 0
    assert addresses(extended_library, matching(app)) == [], "nothing can be done to all that match"
    press(app, "Use tag\\:dog")
    assert line(app) == "tag:dog"
    assert set(shown(app)) == {address(0), address(1)}

    app = opened("review", pending_words="-tag:dog dup:maybe")
    assert "takes yes" in app.warning[0].value
    assert shown(app) == []
    press(app, "Clear filters")
    assert len(shown(app)) == 3


def test_the_filter_drawer_shows_counts_and_writes_into_the_line(extended_library: Library) -> None:
    app = open_with_drawer(pending_words="coin")
    assert app.pills(key="pending-by-tag").options == ["dog · 2", "nsfw · 1"]
    app.pills(key="pending-by-tag").set_value(["dog"])
    rerun(app)
    app.selectbox(key="pending-by-source").select("my list.json")
    rerun(app)
    app.segmented_control(key="pending-by-dup").set_value("No duplicate known")
    rerun(app)
    assert line(app) == 'coin tag:dog source:"my list.json" dup:no'
    app.toggle(key="pending-mine").set_value(True)
    rerun(app)
    assert line(app).endswith("by:me decided:today")
    assert "No matches." in words(app)
    app.toggle(key="pending-mine").set_value(False)
    rerun(app)
    app.pills(key="pending-by-tag").set_value([])
    assert line(rerun(app)) == 'coin source:"my list.json" dup:no'


def test_the_drawer_offers_reasons_of_rejection_only_for_rejected_coins(extended_library: Library) -> None:
    extended_library.reject([address(1)], reason="scam")
    assert not any(pills.label == "Rejected for" for pills in open_with_drawer().pills)
    app = opened("library", tab="Rejected")
    app.session_state["trash-filters"] = True
    assert rerun(app).pills(key="trash-by-reason").options == ["scam · 1"]


def test_the_drawer_shows_and_changes_the_dates_of_the_line(extended_library: Library) -> None:
    app = open_with_drawer(pending_words="after:2023-11 before:2024")
    assert str(app.date_input(key="pending-by-after").value) == "2023-11-01"
    assert str(app.date_input(key="pending-by-before").value) == "2023-12-31"
    app.date_input(key="pending-by-before").set_value("2023-11-30")
    assert line(rerun(app)) == "after:2023-11 before:2023-12-01"


def test_filters_find_own_decisions_of_today_and_coins_by_source(extended_library: Library) -> None:
    extended_library.approve([address(0)])
    extended_library.send_back([address(0)])
    extended_library.approve([address(1)], actor="ann")
    extended_library.send_back([address(1)], actor="ann")
    assert shown(opened("review", pending_words="by:me decided:today")) == [address(0)]
    assert shown(opened("review", pending_words="by:ann")) == [address(1)]
    assert set(shown(opened("review", pending_words='source:"my list.json"'))) == {address(0), address(1)}
    extended_library.undo()
    extended_library.undo()
    assert shown(opened("review", pending_words="by:me")) == []


def test_a_filter_is_saved_opened_by_link_and_deleted(extended_library: Library) -> None:
    app = open_with_drawer(pending_words="tag:nsfw decided:today")
    send(app, "pending-save-filter", name="not safe")
    assert extended_library.filters.all() == {"not safe": "tag:nsfw decided:today"}

    app = open_with_drawer()
    app.button(key="pending-saved-not safe").click()
    assert line(app.run()) == "tag:nsfw decided:today"
    send(app, "pending-forget-not safe")
    assert extended_library.filters.all() == {}

    extended_library.filters.save("dogs", "tag:dog")
    linked = opened("review", filter="dogs")
    assert line(linked) == "tag:dog"
    assert "filter" not in linked.query_params
    gone = opened("review", filter="cats")
    assert [toast.value for toast in gone.toast] == ["There is no saved filter cats."]


def test_a_viewer_can_open_saved_filters_but_not_save_any(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.filters.save("dogs", "tag:dog")
    with pytest.raises(InvalidRecord, match="1 to 60"):
        library.filters.save(" ", "tag:dog")
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = open_with_drawer(pending_words="tag:cat")
    assert [button.label for button in app.button] == ["Reset", "dogs", "Clear filters"]


def test_an_order_by_pictures_stays_stable_until_it_is_recomputed(extended_library: Library) -> None:
    extended_library._prefetcher.embed_next(Progress())
    app = opened("review", pending_sort="Like one coin", pending_like=address(1))
    assert shown(app)[0] == address(1)
    assert len(shown(app)) == 3
    app = opened("review", pending_sort="Like what was approved")
    before = shown(app)
    extended_library.approve([before[0]])
    assert shown(rerun(app)) == before[1:]
    extended_library.undo()
    assert shown(rerun(app)) == before
    app.button(key="pending-order-again").click()
    assert set(shown(rerun(app))) == set(before)


def test_a_sample_is_the_same_for_the_number_in_the_address(extended_library: Library) -> None:
    extended_library._prefetcher.embed_next(Progress())
    for label in ("Random sample", "Diverse sample", "Typical sample", "Outliers", "Balanced sample"):
        app = opened("review", pending_sort=label, pending_sample="7")
        assert app.number_input(key="pending_sample").value == 7
        assert len(shown(app)) == 3
        assert shown(opened("review", pending_sort=label, pending_sample="7")) == shown(app)


def test_sorting_by_a_missing_coin_keeps_the_order_and_says_so(extended_library: Library) -> None:
    app = opened("review", pending_sort="Like one coin", pending_like="local-gone")
    assert "no record has the address" in words(app)
    assert len(shown(app)) == 3
    assert PENDING.address in shown(opened("review", pending_sort="Most suspicious"))


def test_only_coins_matching_a_line_with_or_can_be_selected(extended_library: Library) -> None:
    app = opened("review", pending_words="tag:nsfw OR -tag:dog")
    assert set(shown(app)) == {address(0), PENDING.address}
    assert set(addresses(extended_library, matching(app))) == {address(0), PENDING.address}
    app = opened("review", pending_words="(tag:nsfw")
    assert "( at character 1 is not closed" in words(app).replace("\\", "")
    assert shown(app) == [address(0)]


def test_a_presented_page_names_nobody_in_its_line_and_finds_the_same_coins(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.approve([PENDING.address], actor="ann@x.org")
    monkeypatch.setattr(settings(), "presenter", True)
    app = opened("library", tab="All", library_words="by:ann@x.org")
    assert line_of(app, "library").startswith('by:"Reviewer ')
    assert app.query_params["library_words"] == line_of(app, "library")
    assert shown(app) == [PENDING.address]


def test_coins_are_ordered_by_a_number_that_came_with_them(library: Library) -> None:
    library.add([coin(number, holder_count=number) for number in (71, 73, 72)])
    first = shown(opened("review", pending_sort="Holder count, highest"))[:3]
    assert first == [address(73), address(72), address(71)]
