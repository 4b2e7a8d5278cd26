"""The ten places of the program, in the sidebar's order, and links to their views that several pages have."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypedDict
from urllib.parse import urlencode

from store.records import Tier


@dataclass(frozen=True, slots=True)
class Place:
    """One page: its script, its name, what it is for, and the letter that goes there after `g`."""

    script: str
    name: str
    about: str
    letter: str


GROUPS = (
    (Place("overview.py", "Home", "What is where, and what to do next.", "h"),),
    (
        Place("pages/review.py", "Review", "New coins: approve or reject them.", "r"),
        Place(
            "pages/approved.py", "Approved", "Approved coins: write their captions, then promote them.", "a"
        ),
        Place("pages/captions.py", "Captions", "Write, check and draft captions.", "c"),
    ),
    (
        Place("pages/library.py", "Library", "Every coin, rejected ones too.", "l"),
        Place("pages/search.py", "Search", "Find coins by words, by a picture or by an example.", "s"),
        Place("pages/memory.py", "Memory", "Texts that models and agents are told, and why.", "m"),
    ),
    (
        Place("pages/insights.py", "Insights", "What coins there are, how they are reviewed and found.", "i"),
        Place("pages/activity.py", "Activity", "Every decision and job; each can be undone.", "t"),
        Place("pages/settings.py", "Settings", "Import and export, tags, models, checks.", ","),
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
    path = "./" if link["page"] == PLACES["Home"].script else PurePath(link["page"]).stem
    return path + (f"?{query}" if query else "")


def all_coins(line: str) -> Link:
    """The coins of every tier that this line finds."""
    return _view("pages/library.py", tab="All", library_words=line)


def waiting(line: str) -> Link:
    """The coins in review that this line finds."""
    return _view("pages/review.py", pending_words=line)


def family(asked: str) -> Link:
    """The family of a coin by its address, or of a ticker or a name."""
    return _view("pages/library.py", tab="Family", family=asked)


def prompt(parameters: Mapping[str, str]) -> Link:
    """The prompt that is made of examples, by these parameters."""
    return _view("pages/search.py", view="Use as prompt", **parameters)


def saved_view(name: str) -> Link:
    """The coins of every tier that the saved filter of this name finds."""
    return _view("pages/library.py", tab="All", filter=name)


def coin(address: str, tier: Tier) -> Link:
    """The panel of this coin beside the grid of its tier."""
    match tier:
        case "pending":
            return _view("pages/review.py", pending_words=address, coin=address)
        case "approved":
            return _view("pages/approved.py", approved_words=address, coin=address)
        case "trash":
            return _view("pages/library.py", tab="Rejected", trash_words=address, coin=address)
        case "library":
            return _view("pages/library.py", tab="Library", promoted_words=address, coin=address)


def memory_of(address: str) -> Link:
    """The texts of the memory that name this coin."""
    return _view("pages/memory.py", view="Browse", about=address)


FAMILY = _view("pages/library.py", tab="Family")
RULES = _view("pages/review.py", view="Rules")
SECOND_OPINIONS = _view("pages/review.py", view="Second opinions")
SAMPLE = _view("pages/review.py", pending_sort="Random sample")
DOUBTFUL = _view("pages/review.py", pending_sort="Most doubtful")
REJECTED = _view("pages/library.py", tab="Rejected")
CAPTION_CHECK = _view("pages/captions.py", view="Check", captions_kind="fit")
DRAFTS = _view("pages/captions.py", view="AI drafts")
REPLACE = _view("pages/captions.py", view="Find and replace")
MAP = _view("pages/search.py", view="Map")
QUALITY = _view("pages/insights.py", view="Search quality")
TEXTS = _view("pages/memory.py", view="Browse")
WRITTEN_BY_AGENTS = _view("pages/memory.py", view="Review")
IMPORT = _view("pages/settings.py", section="Import and export")
MODEL = _view("pages/settings.py", section="Embedding model")
TAGS = _view("pages/settings.py", section="Tags")
SAFE_MODE = _view("pages/settings.py", section="Safe mode")
PROMPTS = _view("pages/settings.py", section="Past prompts")
LANGUAGE_MODEL = _view("pages/settings.py", section="Language model")
STATUS = _view("pages/settings.py", section="System status")
