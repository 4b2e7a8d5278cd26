"""Searches kept under a name for everybody, with when each person last looked at them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from store.catalog import Catalog
from store.errors import InvalidRecord
from store.records import Facet

MAX_NAME = 60
_SEARCHES, _PRESETS = "saved searches", "weight presets"  # where the catalog keeps them


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A question as its line, the weights it is asked with (None: the usual ones), and who looked when."""

    line: str
    weights: Mapping[Facet, float] | None = None
    looked: Mapping[str, float] = field(default_factory=dict)  # UNIX seconds by person


def searches(catalog: Catalog) -> dict[str, SavedSearch]:
    """By name, in the order of names."""
    kept = json.loads(catalog.meta(_SEARCHES) or "{}")
    return {name: SavedSearch(**kept[name]) for name in sorted(kept, key=str.casefold)}


def save(catalog: Catalog, name: str, search: SavedSearch) -> None:
    """Keep a search under a name; the name's old one is replaced."""
    with catalog.lock:
        _put(catalog, _SEARCHES, {**_searches(catalog), checked_name(name): asdict(search)})


def looked(catalog: Catalog, name: str, *, who: str, at: float) -> None:
    """Remember that somebody has now seen what this search finds; nothing where it is gone."""
    with catalog.lock:
        if search := searches(catalog).get(name):
            save(catalog, name, replace(search, looked={**search.looked, who: at}))


def forget(catalog: Catalog, name: str) -> None:
    with catalog.lock:
        _put(catalog, _SEARCHES, {key: one for key, one in _searches(catalog).items() if key != name})


def presets(catalog: Catalog) -> dict[str, dict[Facet, float]]:
    """Weights kept under a name, for everybody."""
    kept: dict[str, dict[Facet, float]] = json.loads(catalog.meta(_PRESETS) or "{}")
    return dict(sorted(kept.items(), key=lambda each: each[0].casefold()))


def save_preset(catalog: Catalog, name: str, weights: Mapping[Facet, float]) -> None:
    with catalog.lock:
        _put(catalog, _PRESETS, {**presets(catalog), checked_name(name): dict(weights)})


def forget_preset(catalog: Catalog, name: str) -> None:
    with catalog.lock:
        _put(catalog, _PRESETS, {key: one for key, one in presets(catalog).items() if key != name})


def checked_name(name: str) -> str:
    """The name on one line; InvalidRecord for an empty or an endless one."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise InvalidRecord(f"a name has 1 to {MAX_NAME} characters")
    return name


def _searches(catalog: Catalog) -> dict[str, object]:
    return {name: asdict(search) for name, search in searches(catalog).items()}


def _put(catalog: Catalog, key: str, kept: Mapping[str, object]) -> None:
    catalog.set_meta(key, json.dumps(kept, ensure_ascii=False))
