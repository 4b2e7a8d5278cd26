"""Library: all coins of all tiers, in every order and by every filter."""

from store.catalog.filters import Filter
from store.library import Library
from tests.browser.coins import COINS, FROG, PENDING
from tests.pages.conftest import opened, rerun, words
from tests.pages.test_browse import shown


def test_every_coin_is_shown_with_the_number_of_each_tier(library: Library) -> None:
    library.reject([PENDING.address])
    app = opened("library", tab="All")
    app.session_state["library-filters"] = True
    rerun(app)
    assert set(shown(app)) == set(library.addresses(Filter()))
    assert app.pills(key="library-by-tier").options == [
        "Review · 0", "Approved · 1", f"Library · {len(COINS)}", "Rejected · 1",
    ]  # fmt: skip
    app.pills(key="library-by-tier").set_value("trash")
    rerun(app)
    assert app.query_params["library_words"] == "tier:trash"
    assert shown(app) == [PENDING.address]


def test_orders_filters_and_pages_apply_to_all_tiers(library: Library) -> None:
    named = sorted(library.get(address).name for address in library.addresses(Filter()))
    app = opened("library", tab="All", library_sort="Name")
    assert [library.get(address).name for address in shown(app)] == named
    assert shown(opened("library", tab="All", library_words=FROG.name)) == [FROG.address]
    assert "Unknown filter" in opened("library", tab="All", library_words="tire:trash").warning[0].value


def test_an_empty_library_leads_to_the_import(empty: Library) -> None:
    app = opened("library")
    assert "There are no coins yet." in words(app)
    assert "Import coins" in [link.label for link in app.main.page_link]
