"""A query: texts, pictures and examples, weights of the facets, number of hits, a filter; and saved ones."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType

from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.catalog.named_values import NamedValues
from store.errors import InvalidRecord
from store.records import FACETS, MAX_FACET, Facet, checked_address
from store.vectors.weights import ASKED, DEFAULT_WEIGHTS, Kind, check_facets, checked_number, checked_weights

PartKey = tuple[Kind, str]

EVERYTHING = Filter()
MAX_TOP = 10_000  # hits
MAX_PARTS = 32  # of one query, each embedded separately


@dataclass(frozen=True, slots=True)
class Part:
    """A text, a picture or an example (the address of a library record); a negative weight subtracts it.

    An example (`like`) is compared facet by facet, its picture with pictures, its entity with entities; a
    facet that it lacks is not compared. `facets` limits any part to some facets.
    """

    text: str | None = None
    image: bytes | None = field(default=None, repr=False)
    like: str | None = None
    weight: float = 1.0
    facets: tuple[Facet, ...] = FACETS
    key: PartKey = field(init=False, repr=False, compare=False)  # what is embedded, without the weight

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.text, self.image, self.like)) != 1:
            raise InvalidRecord("a part of a query is either a text, a picture or an example")
        if self.text is not None and not self.text.strip():
            raise InvalidRecord("the text to search for is empty")
        if self.text is not None and not self.text.isascii() and any(map(_is_half, self.text)):
            raise InvalidRecord("the text to search for holds an unpaired surrogate (invalid Unicode)")
        if self.text is not None and len(self.text) > MAX_FACET:
            raise InvalidRecord(
                f"the text to search for has {len(self.text):,} characters, at most {MAX_FACET:,} are allowed"
            )
        if self.image is not None and not self.image:
            raise InvalidRecord("the picture to search for is empty")
        if self.like is not None:
            object.__setattr__(self, "like", checked_address(self.like))
        object.__setattr__(self, "weight", checked_number(self.weight, what="a part's weight"))
        check_facets(self.facets)
        if not self.facets:
            raise InvalidRecord("a part of a query speaks about at least one facet")
        object.__setattr__(self, "facets", tuple(facet for facet in FACETS if facet in self.facets))
        content = sha256(self.image).hexdigest() if self.image is not None else self.text or self.like
        object.__setattr__(self, "key", (self.kind, content))

    @property
    def kind(self) -> Kind:
        """Whether it asks by a text, a picture or another record."""
        return "text" if self.text is not None else "image" if self.image is not None else "like"


@dataclass(frozen=True, slots=True)
class QueryShift:
    """Library records marked good and bad, towards and away from which a query is moved.

    Each facet's direction becomes q + GOOD·(mean of the good) − BAD·(mean of the bad), by Rocchio with the
    usual constants (Manning, Raghavan and Schütze 2008, section 9.1.1).
    Records that the library does not have count for nothing; marked ones stay among the results.
    """

    good: tuple[str, ...]  # addresses
    bad: tuple[str, ...] = ()


GOOD, BAD = 0.75, 0.15


@dataclass(frozen=True, slots=True)
class Query:
    """A search query. Raises InvalidRecord (a ValueError) if it has no meaning.

    `weights` are the sliders: if any is given, facets without one weigh nothing. Without any, each facet has
    the largest weight that one of the parts gives it by default.
    """

    parts: tuple[Part, ...]
    weights: Mapping[Facet, float] | None = field(default=None, hash=False)
    top: int = 50
    filter: Filter = EVERYTHING
    calibrated: bool = False  # every facet on one scale (calibration.py), or cosines as they are
    fused: bool = False  # the words of its texts count too (catalog/words.py), or the weighted cosines alone
    shift: QueryShift | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise InvalidRecord("a query needs a text, a picture or an example")
        if len(self.parts) > MAX_PARTS:
            raise InvalidRecord(f"a query of {len(self.parts)} parts; at most {MAX_PARTS} are allowed")
        if not any(part.weight for part in self.parts):
            raise InvalidRecord("every part of the query weighs nothing")
        if isinstance(self.top, bool) or not isinstance(self.top, int) or not 1 <= self.top <= MAX_TOP:
            raise InvalidRecord(f"{self.top!r} results: ask for 1 to {MAX_TOP:,}")
        if self.weights is not None:
            object.__setattr__(self, "weights", MappingProxyType(checked_weights(self.weights)))

    @property
    def sliders(self) -> dict[Facet, float]:
        """The weight of every facet, in the order of FACETS."""
        if self.weights is not None:
            return dict(self.weights)
        weighted = [part for part in self.parts if part.weight]
        usual = {facet: max(DEFAULT_WEIGHTS[part.kind][facet] for part in weighted) for facet in FACETS}
        named = {facet for part in weighted for facet in part.facets}
        if any(usual[facet] for facet in named):
            return usual
        # Of pictures alone, in words, or of captions, with a picture: it is meant.
        return {facet: DEFAULT_WEIGHTS["like"][facet] if facet in named else 0.0 for facet in FACETS}


def _is_half(character: str) -> bool:
    """Whether it is a surrogate of UTF-16, which no tokenizer accepts."""
    return "\ud800" <= character <= "\udfff"


def words_asked(query: Query) -> str:
    """The words of a query's texts, without negative parts and those limited to some facets."""
    texts = (part.text for part in query.parts if part.text and part.weight > 0 and part.facets == FACETS)
    return " ".join(texts)


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A query line with its ranking and number of hits, and when each person last looked."""

    line: str
    weights: Mapping[Facet, float] | None = None  # None: the usual ones
    looked: Mapping[str, float] = field(default_factory=dict, compare=False)  # UNIX seconds by person
    calibrated: bool = False
    folded: bool = False  # copies of one coin are one result
    shown: int | None = None  # results; None: as many as the page shows
    fused: bool = True  # the words of the question count
    shifted: bool = False  # by its marks


class SavedSearches(NamedValues[SavedSearch]):
    """`library.searches`: saved searches, and when each person last looked at their results."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(
            catalog, "saved searches", noun="search", read=lambda kept: SavedSearch(**kept), written=asdict
        )

    def mark_seen(self, name: str, *, actor: str = "") -> None:
        """Mark this search's results as seen by this person; does nothing if the search is gone."""
        with self._catalog.lock:
            if search := self.all().get(name):
                self.save(
                    name,
                    replace(search, looked={**search.looked, actor or self._catalog.actor.name: time.time()}),
                )


def saved_filters(catalog: Catalog) -> NamedValues[str]:
    """Saved filter lines."""
    return NamedValues(catalog, "saved filters", noun="filter")


def saved_weights(catalog: Catalog) -> NamedValues[Mapping[Facet, float]]:
    """Saved weights of the sliders."""
    return NamedValues(catalog, "weight presets", noun="preset", written=checked_weights, reserved=ASKED)
