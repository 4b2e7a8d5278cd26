"""The caption editor: keyboard, drafts, two people, two windows, neighbours, suggestions."""

import json
import shutil
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from components.shell.session.tokens import token
from store.library import Library
from store.permissions import Actor
from store.settings import settings
from tests.browser import dashboard
from tests.browser.bare_editor import data_of, edit
from tests.browser.bare_page import give
from tests.browser.coins import DOG, FROG, PENDING, UNCAPTIONED
from tests.browser.conftest import Serve
from tests.browser.dashboard import Server
from tests.components.conftest import Client
from tests.store.language_model_server import running, says
from tests.waiting import eventually


def edit_on_the_page(page: Page, server: Server, address: str) -> None:
    dashboard.visit(page, server, f"captions?address={address}", title="Captions")
    expect(page.get_by_role("textbox", name="Entity")).to_be_visible()


def commit(library: Library, address: str, *, actor: str, **caption: str) -> None:
    """What another person's editor does when they press ctrl-s."""
    record = library.get(address)
    stored = {"caption": record.caption, "tags": record.tags}
    base = {"revision": record.revision, **stored}
    draft = {**stored, "caption": {**record.caption, **caption}, "base": base, "client": actor, "n": 1}
    own = {"token": token(library.for_actor(Actor(actor))), "decision": uuid4().hex}
    body = {**own, "address": address, "draft": draft}
    assert "saved" in Client().post("/message/editor-commit", content=json.dumps(body)).json()


def state(page: Page) -> Locator:
    """The editor's own status: saved, draft, failed."""
    return page.locator(".memedex-editor .state")


def test_a_caption_is_written_and_saved_with_the_keyboard_alone(page: Page, seeded_library: Library) -> None:
    edit(page, seeded_library, UNCAPTIONED.address)
    expect(page.get_by_role("textbox", name="Entity")).to_be_focused()
    page.keyboard.type("An ape on a bench")
    page.keyboard.press("Tab")
    page.keyboard.type("Waiting for the next cycle")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Leave empty").first.click()
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text("Saved")
    expect(page.get_by_role("heading", level=2).first).to_have_text(UNCAPTIONED.name)
    record = seeded_library.get(UNCAPTIONED.address)
    assert record.caption == {
        "entity": "An ape on a bench",
        "context": "Waiting for the next cycle",
        "visual": "",
    }
    assert seeded_library.drafts.of(UNCAPTIONED.address) == []


def test_a_coin_is_saved_and_promoted_by_one_key(page: Page, seeded_library: Library) -> None:
    edit(page, seeded_library, UNCAPTIONED.address)
    page.get_by_role("textbox", name="Entity").fill("An ape on a bench")
    page.get_by_role("textbox", name="Context").fill("Waiting for the next cycle")
    with page.expect_response("**/editor-promote"):
        page.keyboard.press("Control+Shift+Enter")
    assert eventually(lambda: seeded_library.get(UNCAPTIONED.address).tier == "library")
    record = seeded_library.get(UNCAPTIONED.address)
    assert record.caption["entity"] == "An ape on a bench"


def test_typed_text_survives_a_server_crash(page: Page, serve: Serve, seed: Path, tmp_path: Path) -> None:
    server = serve(shutil.copytree(seed, tmp_path / "res"))
    edit_on_the_page(page, server, UNCAPTIONED.address)
    page.get_by_role("textbox", name="Visual").press_sequentially("Soft light, ")
    expect(state(page)).to_have_text("Draft")
    server.kill()
    page.get_by_role("textbox", name="Visual").press_sequentially("a grainy phot")
    expect(state(page)).to_contain_text("the server cannot be reached")
    serve(server.root, port=int(server.url.rpartition(":")[2]))
    expect(state(page)).to_have_text("Draft")
    with server.stored() as library:
        (draft,) = library.drafts.of(UNCAPTIONED.address)
        assert draft.fields["caption"]["visual"] == "Soft light, a grainy phot"
        assert library.get(UNCAPTIONED.address).caption == {}
    page.route("**/editor-keep", lambda route: route.abort())  # first the connection fails, then a reload
    page.get_by_role("textbox", name="Visual").press_sequentially("ograph")
    expect(state(page)).to_contain_text("the server cannot be reached")
    page.unroute("**/editor-keep")
    page.reload()
    expect(page.get_by_role("textbox", name="Visual")).to_have_value("Soft light, a grainy photograph")
    expect(state(page)).to_have_text("Draft")
    with server.stored() as library:
        assert library.drafts.of(UNCAPTIONED.address)[0].fields["caption"]["visual"].endswith("photograph")
    page.get_by_label("More").click()
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("textbox", name="Visual")).to_have_value("")


def test_two_people_editing_one_coin_lose_nothing(
    page: Page, browser: Browser, seeded_library: Library
) -> None:
    edit(page, seeded_library, FROG.address)
    page.get_by_role("textbox", name="Entity").fill("A green frog in a raincoat")
    expect(state(page)).to_have_text("Draft")

    other = browser.new_page()
    edit(other, seeded_library, FROG.address)
    expect(other.get_by_role("textbox", name="Entity")).to_have_value("A green frog in a raincoat")
    other.close()

    commit(seeded_library, FROG.address, actor="bob", entity="A wet frog under an umbrella", context="Rain")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("bob wrote this meanwhile")).to_be_visible()
    expect(page.get_by_role("textbox", name="Context")).to_have_value("Rain")
    assert seeded_library.get(FROG.address).caption["entity"] == "A wet frog under an umbrella"
    page.locator(".dispute .change").filter(has_text="umbrella").click()
    page.get_by_role("button", name="Keep mine").click()
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text("Saved")
    kept = seeded_library.get(FROG.address).caption
    assert kept["context"] == "Rain"
    assert "umbrella" in kept["entity"]
    assert kept["entity"] != "A wet frog under an umbrella"
    assert [each.event.actor for each in seeded_library.revisions(FROG.address)][1] == "bob"


def test_two_windows_of_one_person_keep_both_texts_until_one_is_chosen(
    page: Page, seeded_library: Library
) -> None:
    def draft() -> str:
        (kept,) = seeded_library.drafts.of(UNCAPTIONED.address)
        return str(kept.fields["caption"]["entity"])

    def entity(window: Page) -> Locator:
        return window.get_by_role("textbox", name="Entity")

    other = page.context.new_page()
    edit(page, seeded_library, UNCAPTIONED.address)
    edit(other, seeded_library, UNCAPTIONED.address)
    held: list[Route] = []
    is_held = True  # both write before either hears of the other
    page.route("**/editor-keep", lambda route: held.append(route) if is_held else route.fallback())
    page.bring_to_front()  # in a tab behind another one, what is due in a moment may come after a minute
    with page.expect_request("**/editor-keep"):
        entity(page).fill("from the first window")
    expect(state(page)).to_have_text("Draft …")
    other.bring_to_front()
    entity(other).fill("from the other window")
    expect(state(other)).to_have_text("Draft")
    page.bring_to_front()
    is_held = False
    for route in held:
        route.fallback()
    message = page.get_by_text("Another window of yours wrote other words for Entity")
    expect(message).to_be_visible()
    entity(page).press_sequentially(", and more")
    other.bring_to_front()
    with other.expect_response("**/editor-keep"):  # stored while the first one's words wait for a choice
        entity(other).fill("from the other window as well")
    expect(state(other)).to_have_text("Draft")
    page.bring_to_front()
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(page.locator(".dispute")).to_contain_text("as well")  # the newest words of the other window
    edit(page, seeded_library, UNCAPTIONED.address)  # as after a reload
    expect(message).to_be_visible()
    expect(entity(page)).to_have_value("from the first window, and more")
    assert draft() == "from the other window as well"
    page.get_by_role("button", name="Keep mine").click()
    expect(message).to_be_hidden()
    expect(state(page)).to_have_text("Draft")
    assert draft() == "from the first window, and more"
    other.bring_to_front()
    other.evaluate("() => window.dispatchEvent(new Event('focus'))")  # back to the other window
    expect(state(other)).to_have_text("Two drafts: choose below")
    other.get_by_role("button", name="Use theirs").click()
    expect(entity(other)).to_have_value("from the first window, and more")
    expect(state(other)).to_have_text("Draft")


def test_an_answer_from_before_a_window_was_typed_in_changes_nothing(
    page: Page, seeded_library: Library
) -> None:
    edit(page, seeded_library, UNCAPTIONED.address)
    late: list[Route] = []
    page.route("**/editor-own", lambda route: late.append(route))
    kept: list[str] = []
    page.on(
        "request", lambda request: kept.append(request.url) if request.url.endswith("/editor-keep") else None
    )
    with page.expect_request("**/editor-own"):
        page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    entity = page.get_by_role("textbox", name="Entity")
    entity.fill("A bench")
    expect(state(page)).to_have_text("Draft")
    for route in late:
        with page.expect_response("**/editor-own"):
            route.fulfill(json={"draft": None})  # so it was when the server was asked
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(state(page)).to_have_text("Draft")
    assert len(kept) == 1


def test_a_caption_shows_its_neighbours_while_it_is_typed(page: Page, seeded_library: Library) -> None:
    seeded_library.embedder.warm()
    edit(page, seeded_library, UNCAPTIONED.address)
    page.get_by_role("textbox", name="Entity").press_sequentially("a puppy in a spacesuit")
    first = page.locator(".neighbours li").first
    expect(first).to_contain_text(DOG.name)
    expect(page.locator(".fit")).to_contain_text("of 5")
    expect(page.locator(".facet[data-facet=entity] .count")).to_contain_text("of 256 tokens")
    page.get_by_role("textbox", name="Entity").fill("a slice of salami with cheese")
    expect(first).to_contain_text("Pizza Slice")


def test_the_nearest_coins_are_those_of_the_coin_in_the_editor_and_of_none_before_it(
    page: Page, seeded_library: Library
) -> None:
    seeded_library.embedder.warm()
    edit(page, seeded_library, FROG.address)
    neighbours = page.locator(".neighbours")
    seen = []
    for coin in (FROG, DOG):
        give(page, **data_of(seeded_library, coin.address))
        expect(page.get_by_role("heading", level=2).first).to_have_text(coin.name)
        expect(page.locator(".fit")).to_contain_text("finds its picture")
        expect(neighbours).not_to_contain_text(coin.name)
        expect(neighbours.locator("li").first).to_be_visible()
        seen.append(neighbours.inner_text())
    assert seen[0] != seen[1]


def test_suggestions_are_partly_accepted_and_dismissed(
    page: Page, seeded_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed = {
        "entity": "An ape in a suit. It holds a banana.",
        "context": "Apes together strong.",
        "visual": "Oil paint.",
        "tags": ["neon", "brand new"],
    }
    with running() as model:
        model.answers = [says(json.dumps(proposed)), says(json.dumps({"visual": "Thick oil paint."}))]
        monkeypatch.setattr(settings(), "caption_model", "openai/any-model")
        monkeypatch.setattr(settings(), "caption_api_base", model.address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        edit(page, seeded_library, UNCAPTIONED.address)
        page.get_by_role("button", name="Suggest a caption").click()
        entity = page.locator(".facet[data-facet=entity]")
        entity.locator(".change").filter(has_text="It holds a banana.").click()
        expect(page.get_by_role("textbox", name="Entity")).to_have_value("It holds a banana.")
        entity.get_by_role("button", name="Dismiss the rest").click()
        context, visual = (page.locator(f".facet[data-facet={name}]") for name in ("context", "visual"))
        context.get_by_role("button", name="Accept").click()
        expect(context.locator(".proposal")).to_have_count(0)
        visual.get_by_role("button", name="Dismiss").click()
        visual.get_by_role("textbox", name="Visual", exact=True).click()
        visual.get_by_role("button", name="Ask the model").click()
        visual.get_by_role("button", name="more concrete").click()
        visual.get_by_role("button", name="Accept").click()
        expect(page.get_by_role("textbox", name="Visual")).to_have_value("Thick oil paint.")
        page.get_by_role("button", name="+ neon").click()
        page.keyboard.press("Control+s")
        expect(state(page)).to_have_text("Saved")
        expect(context.locator(".by")).to_contain_text("openai/any-model")
        record = seeded_library.get(UNCAPTIONED.address)
        assert record.caption == {
            "entity": "It holds a banana.",
            "context": "Apes together strong.",
            "visual": "Thick oil paint.",
        }
        assert record.tags == ["neon"]
        sources = seeded_library.revisions(UNCAPTIONED.address)[0].sources
        assert {facet: source.edited for facet, source in sources.items()} == {
            "entity": True,
            "context": False,
            "visual": False,
        }
        assert {
            each.text for each in seeded_library.suggestions.of(UNCAPTIONED.address, states=("refused",))
        } == {"Oil paint."}


def test_a_coin_without_a_text_is_not_called_saved(page: Page, seeded_library: Library) -> None:
    edit(page, seeded_library, PENDING.address)
    expect(state(page)).to_have_text("Empty")
    seeded_library.edit_tags([PENDING.address], add=["moon"])
    edit(page, seeded_library, PENDING.address)
    expect(state(page)).to_have_text("Tags only")
    expect(state(page)).to_have_attribute("data-state", "empty")


def test_an_older_text_is_restored_and_the_history_shows_both(page: Page, seeded_library: Library) -> None:
    edit(page, seeded_library, DOG.address)
    page.get_by_role("textbox", name="Visual").fill("")
    page.get_by_role("textbox", name="Emotions").fill("Proud and silly")
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text("Saved")
    assert sorted(seeded_library.embedded_facets(DOG.address)) == ["context", "emotions", "entity", "image"]
    assert "visual" not in seeded_library.get(DOG.address).caption
    page.get_by_text("History of this caption").click()
    expect(page.locator(".revisions del").first).to_have_text("Pixel art")
    page.get_by_role("button", name="Restore this").first.click()
    expect(page.get_by_role("textbox", name="Visual")).to_have_value("Pixel art")
    expect(state(page)).to_have_text("Saved")
    record = seeded_library.get(DOG.address)
    assert record.caption == {"entity": DOG.entity, "context": DOG.context, "visual": DOG.visual}
    assert len(seeded_library.revisions(DOG.address)) == 3
