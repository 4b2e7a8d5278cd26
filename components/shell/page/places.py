"""The ten places of the program, in the sidebar's order, and links to their views that several pages have."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import TypedDict
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Place:
    """One page: its script, its name, and one line that says what it is for."""

    script: str
    name: str
    about: str


GROUPS = (
    (Place("overview.py", "Home", "What is where, and what to do next."),),
    (
        Place("pages/review.py", "Review", "New coins: approve or reject them."),
        Place("pages/approved.py", "Approved", "Approved coins: write their captions, then promote them."),
        Place("pages/captions.py", "Captions", "Write, check and draft captions."),
    ),
    (
        Place("pages/library.py", "Library", "Every coin, rejected ones too."),
        Place("pages/search.py", "Search", "Find coins by words, by a picture or by an example."),
        Place("pages/memory.py", "Memory", "Texts that models and agents are told, and why."),
    ),
    (
        Place("pages/insights.py", "Insights", "What coins there are, how they are reviewed and found."),
        Place("pages/activity.py", "Activity", "Every decision and job; each can be undone."),
        Place("pages/settings.py", "Settings", "Import and export, tags, models, checks."),
    ),
)
PLACES = {place.name: place for group in GROUPS for place in group}


class Link(TypedDict):
    """A view of a page, as `st.page_link` and `st.switch_page` take it."""

    page: str
    query_params: dict[str, str]


def _view(page: str, **parameters: str) -> Link:
    return {"page": page, "query_params": parameters}


def to(name: str) -> Link:
    """This place as it opens."""
    return _view(PLACES[name].script)


def address(link: Link) -> str:
    """This link below the app's path."""
    query = urlencode(link["query_params"])
    return PurePath(link["page"]).stem + (f"?{query}" if query else "")


def all_coins(line: str) -> Link:
    """The coins of every tier that this line finds."""
    return _view("pages/library.py", tab="All", library_words=line)


def saved_view(name: str) -> Link:
    """The coins of every tier that the saved filter of this name finds."""
    return _view("pages/library.py", tab="All", filter=name)


REJECTED = _view("pages/library.py", tab="Rejected")
CAPTION_CHECK = _view("pages/captions.py", view="Check", captions_kind="fit")
DRAFTS = _view("pages/captions.py", view="AI drafts")
REPLACE = _view("pages/captions.py", view="Find and replace")
MAP = _view("pages/map.py")
QUALITY = _view("pages/insights.py", view="Search quality")
IMPORT = _view("pages/settings.py", section="Import and export")
MODEL = _view("pages/settings.py", section="Embedding model")
STATUS = _view("pages/settings.py", section="System status")
