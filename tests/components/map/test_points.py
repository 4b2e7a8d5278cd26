"""The map's points and colours: what is sent to the browser, and what stays stable."""

import base64
from typing import Any, cast

import numpy as np

from components.map import colours
from components.map.points import PointTable, drawn_table
from store.catalog.filters import Filter
from store.reading.reader import Reader


class LabelledLibrary:
    """A library that only provides labels."""

    def __init__(self, **labels: str) -> None:
        self.own = [(address, label) for address, own in labels.items() for label in own.split()]

    def labels(self, _: str) -> list[tuple[str, str]]:
        return self.own


def by_tag(library: LabelledLibrary, *addresses: str, before: tuple[str, ...] = ()) -> colours.Colours:
    return colours.by("tag", addresses, cast(Reader, library), scores={}, before=before)


class NumberedLibrary:
    """A library that only provides numbers that came with coins, by field and address."""

    def __init__(self, numbers: dict[str, dict[str, float]]) -> None:
        self.own = numbers

    def number_orders(self) -> dict[str, str]:
        return {field: f"number:{field}" for field in self.own}

    def numbers(self, _: Filter, field: str) -> dict[str, tuple[float, ...]]:
        return {address: (number,) for address, number in self.own.get(field, {}).items()}


def by_number(name: str, **numbers: dict[str, float]) -> colours.Colours:
    return colours.by(name, "abcde", cast(Reader, NumberedLibrary(numbers)), scores={})


def points(*places: float) -> Any:
    return np.array([(place, place) for place in places], np.float32)


def test_only_changes_are_sent_and_a_row_always_means_the_same_coin() -> None:
    sheet = PointTable("any")
    sheet.update(("a", "b", "c"), points(1, 2, 3), changed=())
    rows, places, _ = sheet.since(0)
    assert (rows.tolist(), places.tolist()) == ([0, 1, 2], [[1, 1], [2, 2], [3, 3]])
    drawn = sheet.version
    assert len(sheet.since(drawn)[0]) == 0
    sheet.update(("c", "a", "d"), points(3, 1, 4), changed=["a"])
    rows, places, _ = sheet.since(drawn)
    assert rows.tolist() == [0, 1, 3]  # renamed, gone, new
    assert np.isnan(places[:, 0]).tolist() == [False, True, False]
    assert not sheet.standing(1)
    sheet.update(("a", "b", "c", "d"), points(1, 2, 3, 4), changed=())
    assert sheet.addresses == ["a", "b", "c", "d"]
    assert sheet.since(sheet.version - 1)[0].tolist() == [1]


def test_a_selection_holds_the_coins_that_are_there() -> None:
    sheet = PointTable("any")
    sheet.update(("a", "b", "c"), points(1, 2, 3), changed=())
    assert sheet.chosen() == []
    sheet.select(base64.b64encode(bytes([0b11100000])).decode())
    assert sheet.chosen() == ["a", "b", "c"]
    sheet.update(("a", "c"), points(1, 3), changed=())
    assert sheet.chosen() == ["a", "c"]
    for unreadable in ("", "no bits", "AAA"):
        sheet.select(unreadable)
        assert sheet.chosen() == []


def test_a_sheet_is_found_by_its_name_for_as_long_as_its_session_has_it() -> None:
    sheet = PointTable("any")
    name = sheet.name
    assert drawn_table(name) is sheet
    del sheet
    assert drawn_table(name) is None


def test_the_legend_counts_the_coins_of_each_colour() -> None:
    found = by_tag(LabelledLibrary(a="dog art", b="dog art", c="art", d="art", e="", gone="moon"), *"abcde")
    assert found.legend == [("art · 2", "#56b4e9"), ("dog · 2", "#e69f00"), ("something else · 1", "#8b8f98")]
    assert found.values.tolist() == [1, 1, 0, 0, 2]
    assert [label for label, _ in by_tag(LabelledLibrary(a="dog"), "a").legend] == ["dog · 1", ""]


def test_a_number_colours_along_a_scale_that_is_logarithmic_where_it_is_wide() -> None:
    volume = by_number("market cap", market_cap={"a": 0, "b": 10, "c": 2_000, "d": 100_000, "gone": 1e9})
    assert (volume.title, list(volume.range)) == ("Market cap, logarithmic", ["10", "1k", "100k"])
    assert list(volume.legend) == [("no market cap · 1", colours.OTHER)]
    assert volume.values.tolist() == [200, 200, 232, 255, 0]
    tax = by_number("tax", tax={"a": -1, "b": 0, "c": 1, "d": 9, "e": 9})
    assert (tax.title, list(tax.range), list(tax.legend)) == ("Tax", ["-1", "4", "9"], [("", colours.OTHER)])
    assert tax.values.tolist() == [200, 206, 211, 255, 255]
    assert by_number("supply", tax={"a": 1}).values.tolist() == [0] * 5


def test_a_tag_keeps_its_colour_when_another_becomes_more_frequent() -> None:
    first = by_tag(LabelledLibrary(a="dog", b="dog", c="cat"), *"abc")
    assert first.labels == ("dog", "cat")
    then = by_tag(LabelledLibrary(a="dog", c="cat", d="cat", e="owl"), *"acde", before=first.labels)
    assert then.labels == ("dog", "cat", "owl")
    assert by_tag(LabelledLibrary(c="cat", f="fox"), *"cf", before=then.labels).labels == ("fox", "cat", "")
