"""Charts in a real browser: only there does Streamlit apply the colours of the theme."""

import re
import tomllib
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.dashboard import Server, visit

CONFIG = tomllib.loads(
    (Path(__file__).parent.parent.parent / ".streamlit" / "config.toml").read_text("utf-8")
)


def accent(mode: str) -> re.Pattern[str]:
    """The first chart colour of a theme, in the notation of a browser."""
    color = CONFIG["theme"][mode]["chartCategoricalColors"][0].removeprefix("#")
    red, green, blue = (int(color[at : at + 2], 16) for at in (0, 2, 4))
    return re.compile(rf"rgb\({red}, {green}, {blue}\)")


def switch(page: Page, theme: str) -> None:
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    page.get_by_role("menuitemradio", name=theme).click()


def test_charts_use_the_theme_colours_even_after_a_theme_switch(page: Page, shared: Server) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, shared, "insights?view=Reviewing", title="Insights")
    rate: Locator = page.get_by_role("figure", name="Share of reviewed coins").locator(".js-line")
    expect(rate).to_have_css("stroke", accent("dark"))
    expect(
        page.get_by_role("figure", name="Decisions about coins per day").locator(".bars .point")
    ).not_to_have_count(0)
    switch(page, "Light")
    expect(rate).to_have_css("stroke", accent("light"))


def test_figures_of_insights_fill_a_wide_screen_are_saved_as_pictures_and_open_their_coins(
    page: Page, shared: Server
) -> None:
    visit(page, shared, "insights", title="Insights")
    grid = page.get_by_test_id("stGrid").filter(has=page.get_by_test_id("stPlotlyChart"))
    for width, columns in ((390, 1), (2560, 4), (1920, 3), (1440, 2)):
        page.set_viewport_size({"width": width, "height": 1000})
        expect(grid).to_have_css(
            "grid-template-columns", re.compile(rf"^[\d.]+px( [\d.]+px){{{columns - 1}}}$")
        )
    figure = page.get_by_role("figure", name="How many coins have which tags")
    figure.hover()
    with page.expect_download() as saved:
        figure.locator(".modebar-btn").first.click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    tag = figure.locator(".ytick").first.text_content()
    # Plotly's layer for dragging lies over the bars and passes clicks on.
    figure.locator(".bars .point path").first.click(force=True)
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()
    expect(page.get_by_label("Words", exact=True)).to_have_value(f"tag:{tag}")
