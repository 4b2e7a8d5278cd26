"""How fast the review page responds, in a real Chromium with a real server, as a Markdown table.

    python -m bench.grid --keep /some/folder                # 1,000 and 50,000 pending; makes them first, once
    python -m bench.grid --keep /some/folder --sizes 1000

Needs Chromium and `requirements-test.txt`.
"""

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from bench.dashboard import CLOCK, DECIDED, browsing, new_page, serve
from bench.measuring import machine, memory, milliseconds, print_head, print_row, spread
from bench.pending import queue

_PER_PAGE = 240


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="where the queues are kept; made there when missing")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 50_000])
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--paged", type=int, default=10_000, help="cards to page through for the memory")
    options = parser.parse_args()
    print(f"{machine()}\n")
    print_head(
        "pending", "next card under the cursor", "… and painted", "decision durable", "first paint", "memory"
    )
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            root = queue((options.keep or Path(folder)) / str(size), size)
            print_row(f"{size:,}", *_measured(root, options.presses, min(options.paged, size)))


def _measured(root: Path, presses: int, paged: int) -> list[str]:
    """The times in milliseconds, and the memory after paging through so many cards."""
    with serve(root) as server, browsing() as browser:
        page = new_page(browser)

        def first_paint() -> None:
            page.goto(f"{server.url}/review")
            page.wait_for_selector(".card.loaded")

        first_paint()  # the very first one imports the program
        first = [milliseconds(first_paint) for _ in range(5)]
        measured = _press(page, presses)
        times = [spread([one[kind] for one in measured], "ms") for kind in ("moved", "painted", "durable")]
        page.goto(f"{server.url}/review?pending_per={_PER_PAGE}+a+page")
        grown = -memory("RssAnon", server.process.pid)
        _page_through(page, paged)
        grown += memory("RssAnon", server.process.pid)
        return [*times, spread(first, "ms"), f"{grown:+.0f} MiB after {paged:,} cards"]


def _press(page: Page, presses: int) -> list[dict[str, float]]:
    """Approve with the key, one coin after the other; then undo everything."""
    page.eval_on_selector(".memedex-grid", CLOCK)
    for pressed in range(1, presses + 1):
        page.keyboard.press("a")
        page.wait_for_function(DECIDED, arg=pressed)
    measured: list[dict[str, float]] = page.evaluate("measured")
    for _ in range(presses):
        page.keyboard.press("z")
    page.wait_for_function("() => !undecided()")
    return measured


def _page_through(page: Page, cards: int) -> None:
    """Show so many cards, and ask for all their pictures."""
    for number in range(cards // _PER_PAGE):
        if number:
            first = page.locator(".card").first.get_attribute("data-address")
            page.keyboard.press("]")
            page.wait_for_selector(f".card[data-address='{first}']", state="detached")
        page.wait_for_selector(".card.loaded")
        page.eval_on_selector_all(
            ".card img", "(images) => Promise.all(images.map((image) => fetch(image.src)))"
        )


if __name__ == "__main__":
    main()
