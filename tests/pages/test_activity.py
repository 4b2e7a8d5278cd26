"""The page Activity: its decisions, by link and by person, and removed searches."""

from components.shell.page.undo import undone_text
from store.library import Library
from store.search.query import SavedSearch
from tests.browser.coins import COINS, PENDING
from tests.pages.conftest import opened, send, words


def test_the_page_lists_every_decision_with_its_actor_and_time(library: Library) -> None:
    library.reject([PENDING.address], reason="=copycat", actor="bob@x.org")
    message = words(opened("activity"))
    assert "Rejected New Fish" in message
    assert "bob@x.org" in message
    assert "Promoted 4 coins" in message


def test_an_undo_says_what_was_undone(library: Library) -> None:
    library.reject([PENDING.address])
    library.undo()
    library.redo()
    message = words(opened("activity"))
    assert "Undid: rejected New Fish" in message
    assert "Redid: rejected New Fish" in message


def test_an_undo_of_a_part_says_how_much_it_undid(library: Library) -> None:
    rejected = [coin.address for coin in (*COINS[:2], PENDING)]
    library.degrade(rejected[:2])
    assert len(library.reject(rejected).done) == 3
    library.restore([rejected[0]])
    (decision,) = (one.id for one in library.decisions(limit=9) if one.verb == "reject")
    undone = library.undo_decisions([decision])
    assert undone.unchanged == [rejected[0]]
    message = words(opened("activity"))
    assert "Undid: rejected" in message
    assert "Undid: rejected 3 coins" not in message
    assert COINS[0].name not in message.partition("Undid: rejected")[2].partition("\n")[0]
    assert "3 coins" not in undone_text(library, "undo", decision, by=undone.decision)
    assert undone_text(library, "undo", decision, by=None) == "Undone: rejected 3 coins"


def test_an_undo_counts_only_the_coins_that_it_changed(library: Library) -> None:
    rejected = [coin.address for coin in (*COINS[:2], PENDING)]
    library.degrade(rejected[:2])
    first = library.reject(rejected).decision
    library.restore([rejected[0]])
    (toast,) = send(opened("activity"), f"take-back-{first}").toast
    assert toast.value == "Undone for 2 coins."
    second = library.reject([PENDING.address]).decision
    library.restore([PENDING.address])
    (toast,) = send(opened("activity"), f"take-back-{second}").toast
    assert toast.value == "Nothing had to be changed."


def test_a_removed_saved_search_is_listed_with_its_actor_and_restored(library: Library) -> None:
    library.searches.save("frogs", SavedSearch("frog"))
    library.searches.delete("frogs", actor="bob@x.org")
    app = opened("activity")
    assert "frogs" in words(app)
    assert "bob@x" in words(app).replace("\\", "")
    [one] = library.removed.all()
    send(app, f"put-back-{one.id}")
    assert library.searches.all() == {"frogs": SavedSearch("frog")}
    assert library.removed.all()[0].restored_by == "tester"
