"""Review: logos from the network, coins still to be compared, and rules."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.review import rules
from store.catalog.advice import is_blind
from store.duplicates.duplicates import Duplicates
from store.library import Library
from store.rules import copilot, running, second_opinions
from store.rules.rule import checked
from tests.browser.coins import PENDING
from tests.pages.conftest import finish_jobs, opened, press, rerun, sendable, words
from tests.store.conftest import address


def test_logos_are_fetched_from_the_network_only_on_request(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    token = {"chainId": 1, "address": address(7), "name": "Far", "symbol": "F"}
    path.write_text(
        json.dumps({"name": "list", "tokens": [{**token, "logoURI": "http://127.0.0.1:9/a.png"}]})
    )
    app = opened("settings")
    press(app, "Import path", path=str(path))
    finish_jobs()
    assert [job.kind for job in library.jobs.all()] == [""]
    press(rerun(app), "Fetch 1 logo from the network")
    finish_jobs()
    job = library.jobs.all()[0]
    assert (job.kind, job.refused) == ("logos", 1)
    assert "not on the public internet" in library.jobs.items(job.id)[0].reason


def test_review_says_how_many_coins_are_still_to_be_compared(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 1_234)
    assert "1,234 to compare" in words(opened("review"))
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 0)
    assert "to compare" not in words(opened("review"))


def read(app: AppTest) -> str:
    """What a page says, as a browser shows it."""
    return words(app).replace("\\", "")


def test_a_rule_is_written_previewed_saved_and_run(library: Library) -> None:
    app = opened("review", view="Rules")
    assert "Name it and say which coins it means" in words(app)
    next(button for button in app.button if "dup:exact" in button.label).click()
    assert "Younger twins" in [field.value for field in rerun(app).text_input]
    app = opened("review", view="Rules")
    fields = {field.label: field for field in app.text_input}
    fields["Name"].set_value("Fish")
    fields["If this finds a coin"].set_value("name:fish")
    app = rerun(app)
    assert "If “name:fish” finds a coin, reject it." in read(app)
    assert "Now: 1 coin" in [header.value for header in app.subheader]
    app = press(app, "Save")
    saved = library.rules.all()["Fish"]
    assert (saved.when, saved.level, saved.saved_by) == ("name:fish", "shown", "tester")
    running.save(library, replace(saved, level="one click"))
    app = press(opened("review", view="Rules", rule="Fish"), "Reject: 1 coin")
    finish_jobs()
    assert library.get(PENDING.address).tier == "trash"
    assert "Now: 0 coins" in [header.value for header in rerun(app).subheader]
    app = rerun(app)
    assert "1 coin by tester, just now" in read(app)
    app = press(app, "Undo this run")
    assert library.get(PENDING.address).tier == "pending"
    assert "undone" in read(app)
    press(app, "Delete")
    assert library.rules.all() == {}


def test_what_cannot_be_a_rule_is_said_as_it_is_typed(library: Library) -> None:
    app = opened("review", view="Rules")
    fields = {field.label: field for field in app.text_input}
    fields["Name"].set_value("All")
    assert "without a filter it would mean all" in words(rerun(app))
    assert library.rules.all() == {}


def test_people_who_decided_otherwise_are_named_with_a_link_to_the_coin(library: Library) -> None:
    running.save(library, checked({"name": "Frogs", "do": "reject", "when": "tag:frog"}))
    said = read(opened("review", view="Rules", rule="Frogs"))
    assert "it would have settled 1 of 5 decisions: 0 as people did, 1 otherwise" in said
    assert (
        "[Rainy Frog](library?tab=Library&promoted_words=local-frog&coin=local-frog) approved by tester"
        in said
    )


def test_a_viewer_sees_rules_and_can_change_none(library: Library) -> None:
    running.save(library, checked({"name": "Frogs", "do": "reject", "when": "tag:frog"}))
    app = opened("review", view="Rules", reading_only=True)
    assert "If “tag:frog” finds a coin, reject it." in read(app)
    assert not app.text_input
    assert sendable() == []


def test_a_coin_in_review_says_which_rule_means_it(library: Library) -> None:
    running.save(library, checked({"name": "Fish", "do": "hold", "when": "name:fish"}))
    assert not is_blind(PENDING.address)
    mark = rules.marks(library, [library.get(PENDING.address)], lambda _: None)
    assert mark(library.get(PENDING.address)) == {"label": "Fish: hold", "tone": "quiet"}
    busy = rules.marks(library, [], lambda _: {"label": "being approved", "tone": "busy"})
    assert busy(library.get(PENDING.address)) == {"label": "being approved", "tone": "busy"}


def test_the_co_pilot_is_turned_on_set_and_turned_off(library: Library) -> None:
    app = opened("review", view="Co-pilot")
    assert "It learns from what people approved and rejected" in words(app)
    assert "Too few decisions to learn from: 195 more decisions" in read(app)
    app = press(app, "Turn on")
    (rule,) = library.rules.all().values()
    assert (rule.name, rule.do, rule.level, rule.bears, rule.saved_by) == (
        "co-pilot", "judge", "shown", 2.0, "tester",
    )  # fmt: skip
    app = rerun(app)
    (bears,) = [field for field in app.number_input if field.label == "Errors to bear, %"]
    bears.set_value(5.0)
    app = press(rerun(app), "Save")
    assert library.rules.all()["co-pilot"].bears == 5.0
    assert "co-pilot" not in words(opened("review", view="Rules")), "it has a page of its own"
    press(rerun(app), "Turn off")
    assert library.rules.all() == {}


def test_a_viewer_sees_the_co_pilot_and_can_change_nothing(library: Library) -> None:
    running.save(library, copilot.usual())
    app = opened("review", view="Co-pilot", reading_only=True)
    assert "Too few decisions to learn from" in words(app)
    assert not app.number_input
    assert sendable() == []


def test_second_opinions_are_turned_on_and_say_that_a_second_person_is_needed(library: Library) -> None:
    app = opened("review", view="Second opinions")
    assert "asked again of another person, who is not told what was decided" in words(app)
    press(app, "Turn on", percent=100)
    assert second_opinions.share(library).percent == 100
    assert second_opinions.share(library).actor == "tester"
    assert "second person, since you decided" in words(opened("review", view="Second opinions"))
    app = opened("review", view="Second opinions", opinions="Agreement")
    press(app, "Save", percent=0)
    assert second_opinions.drawn(library) == []


def test_a_viewer_sees_nothing_of_second_opinions(library: Library) -> None:
    second_opinions.set_share(library, 100, actor="ann")
    for reading_only in (False, True):
        app = opened("review", view="Second opinions", reading_only=reading_only)
        drawn = "".join(str(one.proto.body) for one in app.get("html"))
        assert ("Second opinions" in drawn) is not reading_only
