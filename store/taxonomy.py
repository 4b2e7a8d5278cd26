"""Tags and the categories they belong to."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from store.errors import BadSource
from store.records import MAX_TAG

OTHER = "other"  # the category of a tag nobody has foreseen


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Which category each known tag belongs to; letter case does not matter."""

    _category_of: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> "Taxonomy":
        """The taxonomy of a JSON file that maps each tag to its category; BadSource for a broken file."""
        try:
            entries = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise BadSource(f"the taxonomy {path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, or without end
            raise BadSource(f"the taxonomy {path} is not JSON: {error}") from error
        return parsed(entries, path=path)

    @property
    def entries(self) -> dict[str, str]:
        """Each known tag with its category, in alphabetical order."""
        return dict(sorted(self._category_of.items()))

    @property
    def tags(self) -> list[str]:
        """Every known tag, in alphabetical order."""
        return sorted(self._category_of)

    def knows(self, tag: str) -> bool:
        """Whether somebody has foreseen this tag."""
        return tag.strip().casefold() in self._category_of

    def category(self, tag: str) -> str:
        """The tag's category, `other` for a free tag."""
        return self._category_of.get(tag.strip().casefold(), OTHER)

    def categories(self, tags: Iterable[str]) -> list[str]:
        """The categories of these tags, each once, in the order of the tags."""
        return list(dict.fromkeys(map(self.category, tags)))


def parsed(entries: object, *, path: Path) -> Taxonomy:
    """The taxonomy that these entries are; BadSource, naming the first fault."""
    if not isinstance(entries, Mapping):
        raise BadSource(f'the taxonomy {path} must be one object: {{"dog": "animals", …}}')
    for tag, category in entries.items():
        if not _is_word(tag) or not _is_word(category):
            raise BadSource(
                f"the taxonomy {path} is wrong at {tag[:40]!r}: tags and categories must be short texts "
                "without commas"
            )
    return Taxonomy({tag.strip().casefold(): category.strip() for tag, category in entries.items()})


def written(taxonomy: Taxonomy) -> str:
    """The taxonomy as its file has it."""
    return json.dumps(taxonomy.entries, ensure_ascii=False, indent=2) + "\n"


def _is_word(value: object) -> bool:
    # Chroma keeps tags and categories joined by commas (reference 1).
    return isinstance(value, str) and bool(value.strip()) and "," not in value and len(value) <= MAX_TAG
