"""The parts of a page that its script keeps up to date by itself, from the stream of `events`.

All of them are one component, `js/main.js`. They share one stream for each page, and ask for a run of the
page only when what it shows is out of date and nobody is in the middle of something (`js/outdated.js`).
"""

from typing import Any

from components.shell import javascript
from components.shell.server import current_state, events, messages
from components.shell.session import login, resources, session
from store import Library
from store.captioning import is_loaded

_component = javascript.mounted(
    "live", '<div class="memedex-live"></div>', script="shell/js/main.js", style="shell/page/live.css"
)


def badges(library: Library) -> None:
    """The state of model and search index."""
    status = resources.status(library)
    shown = {"ready": current_state.is_model_settled(status)}
    _mount(library, "badges", shown=shown, badges=current_state.badges(status))


def jobs(library: Library, *, are_bars_drawn: bool) -> None:
    """A bar for each job under way; the page is out of date once another set of them is."""
    bars = [current_state.bar(job) for job in library.jobs.under_way()] if are_bars_drawn else None
    _mount(library, "bars", shown={"jobs": session.beginning().jobs}, bars=bars)


def records(library: Library, *, with_findings: bool) -> None:
    """Nothing to see; the page is out of date once records, or findings about them, have changed."""
    beginning = session.beginning()
    shown = {"generation": beginning.generation}
    if with_findings:
        shown["derived"] = beginning.derived
    _mount(library, "records", shown=shown, pending=library.counts()["pending"])


def open_jobs(library: Library, shown: str) -> None:
    """Nothing to see; the page is out of date once the unfinished jobs or their states are others."""
    _mount(library, "open", shown={"open": shown})


def job(library: Library, bar: dict[str, Any]) -> None:
    """One job with its figures, to be paused and stopped."""
    _mount(library, "job", key=str(bar["id"]), bars=[bar])


def answer(library: Library, number: int, text: str) -> None:
    """What a language model writes for this job, as it comes."""
    _mount(library, "answer", key=str(number), job=number, text=text)


def price_list(library: Library, *, key: str) -> None:
    """Nothing to see; the page is out of date once the price list is loaded."""
    _mount(library, "prices", key=key, shown={"prices": is_loaded()})


def _mount(
    library: Library, part: str, *, key: str = "", shown: dict[str, Any] | None = None, **data: Any
) -> None:
    _component(
        key=f"memedex-live-{part}-{key}",
        data={
            "part": part,
            "url": events.address(),
            "server": messages.server(library),
            "canStop": library.can_write,
            **data,
            "shown": shown or {},
            "at": current_state.now(),  # after the values were read: the stream reads newer ones from now on
        },
        width="content" if part == "badges" else "stretch",
        on_outdated_change=_nothing,
    )
    events.watcher.page_ran(login.session())


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""


def follow(library: Library) -> None:
    """Rerun the page once the library has changed since this run."""
    records(library, with_findings=False)


def follow_badges(library: Library) -> None:
    """The same, for a page that also shows background findings about records."""
    records(library, with_findings=True)
