"""Charts in a real browser: only there does Streamlit apply the colours of the theme."""

import re
import tomllib
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from store.catalog.filters import Filter
from tests.browser.coins import PENDING
from tests.browser.dashboard import Server, visit
from tests.waiting import eventually

CONFIG = tomllib.loads(
    (Path(__file__).parent.parent.parent / ".streamlit" / "config.toml").read_text("utf-8")
)
MARKUP = '<img src=x onerror="window.obeyed = true"> <b>bold</b> {a} {@[3]}'

PAINTED = """(figure, [red, green, blue]) => {
  const canvas = figure.querySelector("canvas");
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) count++;
  return count;
}"""


def accent(mode: str) -> list[int]:
    """The first chart colour of a theme: red, green and blue."""
    color = CONFIG["theme"][mode]["chartCategoricalColors"][0].removeprefix("#")
    return [int(color[at : at + 2], 16) for at in (0, 2, 4)]


def painted(figure: Locator, color: list[int]) -> int:
    """How many pixels of a figure have this colour."""
    return int(figure.evaluate(PAINTED, color))


def point(page: Page, figure: Locator, *, right: float, down: float) -> None:
    """Move the mouse over a figure: `right` as a share of its width, `down` in px."""
    figure.scroll_into_view_if_needed()
    box = figure.bounding_box()
    page.mouse.move(box["x"] + right * box["width"], box["y"] + down)


def drawn(page: Page, name: str) -> Locator:
    """A figure, once it is drawn."""
    figure = page.get_by_role("img", name=name)
    expect(figure).to_have_attribute("aria-busy", "false")
    return figure


def switch(page: Page, theme: str) -> None:
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    page.get_by_role("menuitemradio", name=theme).click()


def test_charts_use_the_theme_colours_even_after_a_theme_switch(page: Page, shared: Server) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, shared, "insights?view=Reviewing", title="Insights")
    rate = drawn(page, "How many coins wait for review")
    assert eventually(lambda: painted(rate, accent("dark")) > 500)
    assert painted(rate, accent("light")) == 0
    switch(page, "Light")
    assert eventually(lambda: painted(rate, accent("light")) > 500)
    assert painted(rate, accent("dark")) == 0


def test_figures_of_insights_fill_a_wide_screen_are_saved_as_pictures_and_open_their_coins(
    page: Page, shared: Server
) -> None:
    visit(page, shared, "insights", title="Insights")
    grid = page.get_by_test_id("stGrid").filter(has=page.get_by_test_id("stEChartsChart"))
    for width, columns in ((390, 1), (2560, 4), (1920, 3), (1440, 2)):
        page.set_viewport_size({"width": width, "height": 1000})
        expect(grid).to_have_css(
            "grid-template-columns", re.compile(rf"^[\d.]+px( [\d.]+px){{{columns - 1}}}$")
        )
    alt = "How many coins have which tags"
    figure = drawn(page, alt)
    point(page, figure, right=0.3, down=24)
    with page.expect_download() as saved:
        page.get_by_role("button", name=re.compile(f"Download as PNG.*{alt}")).click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    with shared.stored() as library:
        tag = min(library.tag_counts(Filter()).items(), key=lambda one: (-one[1], one[0]))[0]
    point(page, figure, right=0.3, down=24)
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()
    expect(page.get_by_label("Words", exact=True)).to_have_value(f"tag:{tag}")


def test_markup_in_what_people_wrote_is_text_when_a_bar_is_hovered(page: Page, seeded: Server) -> None:
    seeded.decide("reject", PENDING.address, reason=MARKUP)
    visit(page, seeded, "insights?view=Reviewing", title="Insights")
    point(page, drawn(page, "which reasons for rejection"), right=0.5, down=40)
    expect(page.get_by_text(f"{MARKUP}: 1 of 1")).to_be_visible()
    assert page.evaluate("window.obeyed") is None
