"""The tabs of `bench.load` in a real Chromium: looked at while others are idle, then reviewing by key."""

import asyncio
import time
from typing import Any, Self

from playwright.async_api import Page, async_playwright

from bench.dashboard import ARGUMENTS, CLOCK, HEIGHT, WIDTH, chromium

_PACE = 0.5  # seconds between two keys
_PATIENT = 180_000  # ms


class Browsers:
    """So many tabs on the review page, each in a profile of its own."""

    def __init__(self, url: str, count: int) -> None:
        self._url, self._count = url, count
        self._pages: list[Page] = []

    async def __aenter__(self) -> Self:
        self._playwright: Any = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS])
        for _ in range(self._count):
            context = await self._browser.new_context(
                viewport={"width": WIDTH, "height": HEIGHT},
                reduced_motion="reduce",  # drawn without a GPU, moving cards cost the server's cores
            )
            context.set_default_timeout(_PATIENT)
            page = await context.new_page()
            await page.goto(f"{self._url}/review")
            await page.wait_for_selector(".card.loaded")
            self._pages.append(page)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._browser.close()
        await self._playwright.stop()

    async def review(self, seconds: float) -> tuple[list[float], list[str]]:
        """Approve twice a second in every tab: seconds until each was durable, and the coins decided on.

        Each tab begins at another card, because all show the same page.
        """
        tabs = [self._review(page, at, seconds) for at, page in enumerate(self._pages)]
        found = await asyncio.gather(*tabs)
        return [one for times, _ in found for one in times], [key for _, keys in found for key in keys]

    async def _review(self, page: Page, at: int, seconds: float) -> tuple[list[float], list[str]]:
        await page.eval_on_selector(".memedex-grid", CLOCK)
        for _ in range(at):
            await page.keyboard.press("ArrowRight")
        end, keys = time.monotonic() + seconds, []
        while (now := time.monotonic()) < end:
            card = page.locator(".card.at")
            if await card.count():
                keys.append(await card.first.get_attribute("data-address"))
                await page.keyboard.press("a")
            await asyncio.sleep(max(0.0, now + _PACE - time.monotonic()))
        await page.wait_for_function("() => !undecided()")
        measured = await page.evaluate("measured")
        times = [one["durable"] / 1_000 for one in measured if one["durable"] is not None]
        return times, [key for key in keys if key]
