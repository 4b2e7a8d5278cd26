"""Show changes made elsewhere within seconds, but never while somebody is interacting."""

from components.shell import live
from store.library import Library


def follow(library: Library) -> None:
    """Rerun the page once the library has changed since this run."""
    live.records(library, with_findings=False)


def follow_badges(library: Library) -> None:
    """The same, for a page that also shows background findings about records."""
    live.records(library, with_findings=True)
