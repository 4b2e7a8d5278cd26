"""The caption editor in a real browser: no word is lost, nothing is overwritten unseen, no text is obeyed."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from store.importing.candidate import Candidate
from store.library import Library
from tests.browser.coins import COINS, DOG, FROG, UNCAPTIONED, picture
from tests.browser.conftest import Serve
from tests.browser.dashboard import Server, at_rest, visit

EVIL = "![x](http://evil.example/a.png) <img src=x onerror=alert(1)> **bold** :red[red]"


def edit(page: Page, server: Server, address: str) -> None:
    visit(page, server, f"captions?address={address}", title="Captions")
    expect(page.get_by_role("textbox", name="Entity")).to_be_visible()


def test_a_caption_is_written_and_saved_with_the_keyboard_alone(page: Page, seeded: Server) -> None:
    edit(page, seeded, UNCAPTIONED.address)
    page.get_by_role("textbox", name="Entity").fill("An ape on a bench")
    page.get_by_role("textbox", name="Context").fill("Waiting for the next cycle")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved the caption of Quiet Ape.")).to_be_visible()
    with seeded.stored() as library:
        record = library.get(UNCAPTIONED.address)
        assert record.caption == {"entity": "An ape on a bench", "context": "Waiting for the next cycle"}
        assert library.draft(UNCAPTIONED.address) is None
    expect(page.get_by_role("button", name="Promote to the library")).to_be_enabled()


def test_what_is_typed_survives_the_end_of_the_browser(page: Page, browser: Browser, seeded: Server) -> None:
    edit(page, seeded, UNCAPTIONED.address)
    page.get_by_role("textbox", name="Visual").press_sequentially("Soft light, a grainy phot")
    expect(page.get_by_text("Kept as a draft, not saved yet")).to_be_visible()
    page.context.close()  # as when the browser ends: no blur, no click

    with seeded.stored() as library:
        assert library.get(UNCAPTIONED.address).caption == {}
    later = browser.new_page()
    edit(later, seeded, UNCAPTIONED.address)
    expect(later.get_by_role("textbox", name="Visual")).to_have_value("Soft light, a grainy phot")
    later.get_by_role("button", name="Discard").click()
    expect(later.get_by_role("textbox", name="Visual")).to_have_value("")
    later.close()


def test_somebody_elses_change_is_shown_beside_ones_own(page: Page, browser: Browser, seeded: Server) -> None:
    edit(page, seeded, FROG.address)
    page.get_by_role("textbox", name="Entity").fill("My frog")
    expect(page.get_by_text("Kept as a draft, not saved yet")).to_be_visible()
    with seeded.stored() as library:
        before = library.get(FROG.address).revision

    other = browser.new_page()
    edit(other, seeded, FROG.address)
    other.get_by_role("button", name="Degrade to approved").click()
    expect(other.get_by_role("button", name="Promote to the library")).to_be_visible()
    other.close()

    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This coin was changed while you were writing.")).to_be_visible()
    with seeded.stored() as library:
        assert library.get(FROG.address).caption["entity"] == FROG.entity
    page.get_by_role("button", name="Go on with yours").click()
    expect(page.get_by_role("textbox", name="Entity")).to_have_value("My frog")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved the caption of Rainy Frog.")).to_be_visible()
    with seeded.stored() as library:
        record = library.get(FROG.address)
        assert record.caption["entity"] == "My frog"
        assert record.revision > before


def test_only_what_changed_is_embedded_again(page: Page, seeded: Server) -> None:
    edit(page, seeded, DOG.address)
    page.get_by_role("textbox", name="Visual").fill("")
    page.get_by_role("textbox", name="Emotions").fill("Proud and silly")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved the caption of Moon Dog.")).to_be_visible()
    with seeded.stored() as library:
        assert sorted(library.embedded_facets(DOG.address)) == ["context", "emotions", "entity", "image"]
        assert library.get(DOG.address).caption["visual"] == ""
    page.get_by_text("What is stored").click()
    expect(page.get_by_text("In Chroma")).to_be_visible()
    expect(page.get_by_test_id("stJson").last).to_contain_text("Proud and silly")


def test_tags_bring_their_categories(page: Page, seeded: Server) -> None:
    edit(page, seeded, UNCAPTIONED.address)
    tags = page.get_by_role("combobox", name=re.compile("Tags"))
    tags.fill("neon")
    tags.press("Enter")
    expect(page.get_by_text("Kept as a draft, not saved yet")).to_be_visible()
    tags.fill("quite free")
    tags.press("Enter")
    expect(page.get_by_text("Categories: style, other")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved the caption of Quiet Ape.")).to_be_visible()
    with seeded.stored() as library:
        assert library.get(UNCAPTIONED.address).tags == ["neon", "quite free"]
        assert library.get(UNCAPTIONED.address).categories == ["style", "other"]


def test_one_goes_from_coin_to_coin(page: Page, shared: Server) -> None:
    visit(page, shared, "captions", title="Captions")
    page.get_by_test_id("stButtonGroup").get_by_text("Library").click()
    heading = page.get_by_role("heading", level=3).first
    expect(heading).not_to_have_text(UNCAPTIONED.name)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    seen = [heading.inner_text()]
    for _ in COINS[1:]:
        page.get_by_role("button", name="Next").click()
        expect(heading).not_to_have_text(seen[-1])
        seen.append(heading.inner_text())
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    assert sorted(seen) == sorted(coin.name for coin in COINS)

    page.get_by_test_id("stButtonGroup").get_by_text("To caption").click()
    expect(heading).to_have_text(UNCAPTIONED.name)


def test_a_strangers_text_is_shown_and_never_obeyed(page: Page, serve: Serve, tmp_path: Path) -> None:
    with Library.open(tmp_path / "res") as library:
        sidecar = {
            "token_address": "local-evil",
            "token_name": EVIL,
            "ticker": "<b>X</b>",
            "description": EVIL,
            "created_at": 1,
            "tags": [],
            "caption": {"entity": EVIL},
        }
        library.add([Candidate("evil", sidecar, picture("black"))])
        library.approve(["local-evil"])
    server = serve(tmp_path / "res")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (asked.append("alert"), dialog.dismiss()))
    for path, title in (
        ("", "Overview"),
        ("approved", "Approved"),
        ("captions?address=local-evil", "Captions"),
    ):
        visit(page, server, path, title=title)
        at_rest(page)
    expect(page.get_by_role("heading", level=3).first).to_contain_text(
        "![x](http://evil.example/a.png) <img src=x"
    )
    assert not [url for url in asked if "evil.example" in url or url == "alert"]
    expect(page.locator("img[src='x']")).to_have_count(0)
