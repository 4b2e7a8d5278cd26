"""Charts in a real browser, which alone puts the theme's colours into them."""

import re
import tomllib
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.dashboard import Server, visit

CONFIG = tomllib.loads(
    (Path(__file__).parent.parent.parent / ".streamlit" / "config.toml").read_text("utf-8")
)


def accent(mode: str) -> re.Pattern[str]:
    """The first colour of a theme's charts, as a browser says it."""
    color = CONFIG["theme"][mode]["chartCategoricalColors"][0].removeprefix("#")
    red, green, blue = (int(color[at : at + 2], 16) for at in (0, 2, 4))
    return re.compile(rf"rgb\({red}, {green}, {blue}\)")


def switch(page: Page, theme: str) -> None:
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    page.get_by_role("menuitemradio", name=theme).click()


def test_charts_are_in_the_themes_colours_also_after_it_was_switched(page: Page, shared: Server) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, shared, "history", title="History")
    rate: Locator = page.get_by_role("figure", name="Share of reviewed coins").locator(".js-line")
    expect(rate).to_have_css("stroke", accent("dark"))
    expect(page.get_by_role("figure", name="Decisions a day").locator(".bars .point")).not_to_have_count(0)
    switch(page, "Light")
    expect(rate).to_have_css("stroke", accent("light"))
    expect(page.locator(".modebar-btn")).to_have_count(0)
