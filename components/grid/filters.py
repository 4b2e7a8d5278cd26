"""The drawer of filters of every search line: each control writes into the line.

The line alone holds the query, so that a link or a saved search has all of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import streamlit as st

from components.grid import saved
from components.grid.page_number import turn_to
from components.shell import format
from store import Filter, Library
from store.catalog import filter_conditions, filter_syntax, query_grammar
from store.reading import statistics
from store.records import CAPTION_FACETS, TIERS

_COUNTED = 40  # tags and categories that are offered, the most frequent
_DUPLICATES = {"Any": "", "Possible duplicates": "yes", "No duplicate known": "no"}
_UNFIT = {"Any": "", "Unfit": "yes", "Fit": "no"}
_FAULTS = {"Any": "", "Blank": "blank", "One colour": "plain", "Blurred": "blurred", "Tiny": "tiny"}
_LENGTHS = {"any length": "", "over 100": ">100", "over 200": ">200", "over 400": ">400"}
_LINE = (
    "The line takes words and conditions: `tag:dog`, `-tag:nsfw`, `category:animals`, `name:frog`, "
    "`ticker:PEPE`, `address:So1*`, `after:2025-01`, "
    "`before:2025-02-15` (UTC), `dup:yes`, `text:moon` (in the picture), `comment:scam`, `unfit:no`, "
    "`faults:blurred`, `language:chinese`, "
    '`source:"my list.json"`, `reason:scam`, `by:me`, `decided:today`, '
    "`has:visual`, `length:>200`, `length:visual<80`, `volume:>10k` (any of its numbers); "
    '`tag:"two words"` for a tag with a space. '
    "`OR` and parentheses choose: `(tag:dog OR tag:cat) -moon`; `dog*` is every word or tag that begins so."
)
_QUESTION = " Here, words are searched by meaning; in quotes or with `*` they have to be there."


@dataclass(frozen=True, slots=True)
class Drawer:
    """One page's drawer: the key of its controls, the key of its line, and how the line is read."""

    key: str
    line: str
    dialect: query_grammar.Dialect = "filter"
    names_tier: bool = False
    changed: Callable[[], object] | None = None  # what else follows when a control writes into the line

    def show(self, library: Library, filter: Filter, *, more: Callable[[], Any] = lambda: None) -> Any:
        """Every filter with the number of coins it would leave, computed once the drawer is open.

        `more` draws another control below them; returns what that returns.
        """
        opened = st.popover(
            "Filter",
            icon=":material/tune:",
            key=f"{self.key}-filters",
            on_change="rerun",
            help="Narrow what is shown",
        )
        with opened:
            filters, value = st.container(), more()
        if not opened.open:
            return value
        with filters:
            with st.container(
                horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
            ):
                self._decided()
                st.button(
                    "Reset",
                    key=f"{self.key}-reset",
                    icon=":material/filter_alt_off:",
                    type="tertiary",
                    on_click=self.clear,
                    disabled=filter_syntax.cleared(self._says, self.dialect) == self._says,
                )
            if self.dialect == "filter":
                saved.show(self.key, library, line=self._says, opened=lambda _, line: self.put(line))
            self._labels("Tags", "tag", library.tag_counts(filter))
            self._labels("Categories", "category", library.category_counts(filter))
            self._reasons(library, filter)
            if self.names_tier and self.dialect == "filter":
                self._tiers(library, filter)
            self._sources(library.source_counts(filter))
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                self._day("From", "after", shown=0)
                self._day("To", "before", shown=-1)
                self._one("Caption, characters", "length", _LENGTHS)
                if self.names_tier and self.dialect == "question":
                    tiers = {"Library": "", **{format.TIERS[t]: t for t in TIERS if t != "library"}}
                    self._one("Tier", "tier", tiers)
            self._facets()
            self._choice("Copycats", "dup", _DUPLICATES)
            self._choice("For the screen", "unfit", _UNFIT)
            self._choice("Picture", "faults", _FAULTS)
            st.caption(_LINE + (_QUESTION if self.dialect == "question" else ""))
        return value

    def _reasons(self, library: Library, filter: Filter) -> None:
        """Why these coins were rejected, each reason with its number of coins; nothing if none has one."""
        counts = statistics.rejection_reasons(library, replace(filter, rejected_for=None))
        if any(counts) or filter.rejected_for:
            named = {reason or filter_conditions.NO_REASON: number for reason, number in counts.items()}
            self._pick("Rejected for", "reason", named, labels={filter_conditions.NO_REASON: "no reason"})

    def _tiers(self, library: Library, filter: Filter) -> None:
        """Where these coins are, each tier with its number of coins."""
        counts = dict[str, int]((tier, library.count(replace(filter, tier=tier))) for tier in TIERS)
        self._pick("Where", "tier", counts, labels=format.TIERS)

    def _pick(self, title: str, name: str, counts: Mapping[str, int], *, labels: Mapping[str, str]) -> None:
        """One of these values or none; a value that only the line has is offered too."""
        key = f"{self.key}-by-{name}"
        current = "".join(self._values(name)[-1:])
        chosen = next((value for value in counts if value.lower() == current.lower()), current)
        st.session_state[key] = chosen or None
        st.pills(
            title,
            list(dict.fromkeys([*counts, *([chosen] if chosen else [])])),
            key=key,
            format_func=lambda value: (
                f"{labels.get(value) or format.plain(value, limit=40)} · {counts.get(value, 0):,}"
            ),
            on_change=partial(self._say, name, lambda value: [value] if value else []),
        )

    def put(self, line: str) -> None:
        """Set the line, and go to the first page."""
        st.session_state[self.line] = line
        if self.changed:
            self.changed()
        else:
            turn_to(self.key, 1)

    def clear(self) -> None:
        """Remove all filters from the line."""
        self.put(filter_syntax.cleared(self._says, self.dialect))

    @property
    def _says(self) -> str:
        return st.session_state.get(self.line) or ""

    def _values(self, name: str) -> list[str]:
        return filter_syntax.values(self._says, name, self.dialect)

    def _say(self, name: str, read: Callable[[Any], Iterable[str]]) -> None:
        """Write a control's value into the line."""
        current = read(st.session_state[f"{self.key}-by-{name}"])
        self.put(filter_syntax.edited(self._says, name, current, self.dialect))

    def _labels(self, title: str, name: str, counts: Mapping[str, int]) -> None:
        chosen = self._values(name)
        offered = list(dict.fromkeys([*chosen, *list(counts)[:_COUNTED]]))
        st.session_state[f"{self.key}-by-{name}"] = chosen
        if offered:
            st.pills(
                title,
                offered,
                selection_mode="multi",
                key=f"{self.key}-by-{name}",
                format_func=lambda label: (
                    f"{format.plain(label, limit=40)} · {counts.get(label, 0):,}"
                    if label in counts or not label.endswith("*")
                    else format.plain(label, limit=40)
                ),
                on_change=partial(self._say, name, list),
            )

    def _sources(self, counts: Mapping[str, int]) -> None:
        chosen = self._values("source")[:1]
        offered = list(dict.fromkeys([*chosen, *counts]))
        st.session_state[f"{self.key}-by-source"] = chosen[0] if chosen else None
        if offered:
            st.selectbox(
                "Imported from",
                offered,
                index=None,
                key=f"{self.key}-by-source",
                placeholder="anywhere",
                format_func=lambda source: f"{source} · {counts.get(source, 0):,}",
                on_change=partial(self._say, "source", lambda source: [source] if source else []),
            )

    def _day(self, title: str, name: str, *, shown: int) -> None:
        """A day of creation.

        `shown` is the offset from the day in the line, because "before" excludes its day.
        """
        moment = filter_syntax.parsed(" ".join(f"{name}:{value}" for value in self._values(name))).filter
        seconds = moment.since if name == "after" else moment.until
        day = None if seconds is None else date(1970, 1, 1) + timedelta(days=seconds // 86_400)
        st.session_state[f"{self.key}-by-{name}"] = day
        st.date_input(
            title,
            value=None,
            key=f"{self.key}-by-{name}",
            width=140,
            on_change=partial(
                self._say, name, lambda day: [(day - timedelta(days=shown)).isoformat()] if day else []
            ),
        )

    def _one(self, title: str, name: str, offered: Mapping[str, str]) -> None:
        """A choice of values, the first of which means no filter.

        A value that only the line has is offered too.
        """
        current = "".join(self._values(name)[-1:])
        ways = {**offered, **({current: current} if current not in offered.values() else {})}
        st.session_state[f"{self.key}-by-{name}"] = next(label for label in ways if ways[label] == current)
        st.selectbox(
            title,
            list(ways),
            key=f"{self.key}-by-{name}",
            width=150,
            on_change=partial(self._say, name, lambda label: [ways[label]] if ways[label] else []),
        )

    def _facets(self) -> None:
        st.session_state[f"{self.key}-by-has"] = [
            facet for facet in CAPTION_FACETS if facet in self._values("has")
        ]
        st.pills(
            "Captions that must be written",
            CAPTION_FACETS,
            selection_mode="multi",
            key=f"{self.key}-by-has",
            on_change=partial(self._say, "has", list),
        )

    def _choice(self, title: str, name: str, offered: Mapping[str, str]) -> None:
        current = "".join(self._values(name)[-1:]).lower()
        st.session_state[f"{self.key}-by-{name}"] = next(
            (label for label, value in offered.items() if value == current), "Any"
        )
        st.segmented_control(
            title,
            list(offered),
            key=f"{self.key}-by-{name}",
            required=True,
            on_change=partial(self._say, name, lambda label: [value] if (value := offered[label]) else []),
        )

    def _decided(self) -> None:
        st.session_state[f"{self.key}-mine"] = "me" in self._values("by") and "today" in self._values(
            "decided"
        )

        def say() -> None:
            mine = st.session_state[f"{self.key}-mine"]
            by_me = filter_syntax.edited(self._says, "by", ["me"] if mine else [], self.dialect)
            self.put(filter_syntax.edited(by_me, "decided", ["today"] if mine else [], self.dialect))

        st.toggle("Decided by me today", key=f"{self.key}-mine", on_change=say, help="Days are those of UTC.")


def mended(hints: Sequence[str]) -> None:
    """How the line was corrected to be read, with place and remedy."""
    for hint in hints:
        st.caption(f":orange[{format.plain(hint, limit=200)}]")
