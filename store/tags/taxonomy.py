"""Tags and their categories."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from store.disk.files import read_regular
from store.errors import BadSource
from store.records import MAX_TAG

_LARGEST = 16_000_000  # bytes; a hundred thousand tags have a tenth of it
OTHER = "other"  # the category of an unknown tag


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Maps known tags to categories; case is ignored."""

    _category_of: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> "Taxonomy":
        """Read a JSON file that maps each tag to its category. Raises BadSource for a broken file."""
        try:
            entries = json.loads(read_regular(path, limit=_LARGEST).decode("utf-8-sig"))
        except OSError as error:
            raise BadSource(f"the taxonomy {path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, or without end
            raise BadSource(f"the taxonomy {path} is not JSON: {error}") from error
        return cls.parsed(entries, path=path)

    @classmethod
    def parsed(cls, entries: object, *, path: Path) -> "Taxonomy":
        """The taxonomy with these entries. Raises BadSource, naming the first fault."""
        if not isinstance(entries, Mapping):
            raise BadSource(f'the taxonomy {path} must be one object: {{"dog": "animals", …}}')
        for tag, category in entries.items():
            if not _is_word(tag) or not _is_word(category):
                raise BadSource(
                    f"the taxonomy {path} is wrong at {tag[:40]!r}: tags and categories must be short texts "
                    "without commas"
                )
        return cls({tag.strip().casefold(): category.strip() for tag, category in entries.items()})

    @property
    def entries(self) -> dict[str, str]:
        """Each known tag with its category, in alphabetical order."""
        return dict(sorted(self._category_of.items()))

    @property
    def tags(self) -> list[str]:
        """Every known tag, in alphabetical order."""
        return sorted(self._category_of)

    def knows(self, tag: str) -> bool:
        """Whether the taxonomy has this tag."""
        return tag.strip().casefold() in self._category_of

    def category(self, tag: str) -> str:
        """The tag's category; `other` for an unknown tag."""
        return self._category_of.get(tag.strip().casefold(), OTHER)

    def categories(self, tags: Iterable[str]) -> list[str]:
        """The categories of these tags, each once, in the order of the tags."""
        return list(dict.fromkeys(map(self.category, tags)))


def written(taxonomy: Taxonomy) -> str:
    """The taxonomy as its file's text."""
    return json.dumps(taxonomy.entries, ensure_ascii=False, indent=2) + "\n"


def _is_word(value: object) -> bool:
    # Chroma keeps tags and categories joined by commas.
    return isinstance(value, str) and bool(value.strip()) and "," not in value and len(value) <= MAX_TAG
