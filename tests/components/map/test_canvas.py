"""The map's points and colours: what is sent to the browser, and what stays stable."""

from typing import Any, cast

import numpy as np

from components.map import canvas, colours
from components.map.points import Sheet
from store.reading.reader import Reader


class LabelledLibrary:
    """A library that only provides labels."""

    def __init__(self, **labels: str) -> None:
        self.own = [(address, label) for address, own in labels.items() for label in own.split()]

    def labels(self, _: str) -> list[tuple[str, str]]:
        return self.own


def by_tag(library: LabelledLibrary, *addresses: str, before: tuple[str, ...] = ()) -> colours.Colours:
    return colours.by("tag", addresses, cast(Reader, library), scores={}, before=before)


def points(*places: float) -> Any:
    return np.array([(place, place) for place in places], np.float32)


def test_only_changes_are_sent_and_a_row_always_means_the_same_coin() -> None:
    sheet = Sheet("any")
    sheet.update(("a", "b", "c"), points(1, 2, 3), changed=())
    everything = sheet.since(None)
    assert everything is not None
    assert everything.to_pydict() == {"row": [0, 1, 2], "x": [1, 2, 3], "y": [1, 2, 3]}
    drawn = {"sheet": sheet.name, "version": sheet.version}
    assert sheet.since(drawn) is None
    sheet.update(("c", "a", "d"), points(3, 1, 4), changed=["a"])
    news = sheet.since(drawn)
    assert news is not None
    assert news["row"].to_pylist() == [0, 1, 3]  # renamed, gone, new
    assert np.isnan(news["x"].to_numpy()).tolist() == [False, True, False]
    assert not sheet.standing(1)
    sheet.update(("a", "b", "c", "d"), points(1, 2, 3, 4), changed=())
    assert sheet.addresses == ["a", "b", "c", "d"]
    back = sheet.since({"sheet": sheet.name, "version": sheet.version - 1})
    assert back is not None
    assert back["row"].to_pylist() == [1]
    assert len(sheet.since({"sheet": "another", "version": 99}) or ()) == 4


def test_the_legend_counts_the_coins_of_each_colour() -> None:
    found = by_tag(LabelledLibrary(a="dog art", b="dog art", c="art", d="art", e="", gone="moon"), *"abcde")
    assert found.legend == [("art · 2", "#56b4e9"), ("dog · 2", "#e69f00"), ("something else · 1", "#8b8f98")]
    assert found.values.tolist() == [1, 1, 0, 0, 2]
    assert [label for label, _ in by_tag(LabelledLibrary(a="dog"), "a").legend] == ["dog · 1", ""]


def test_a_tag_keeps_its_colour_when_another_becomes_more_frequent() -> None:
    first = by_tag(LabelledLibrary(a="dog", b="dog", c="cat"), *"abc")
    assert first.labels == ("dog", "cat")
    then = by_tag(LabelledLibrary(a="dog", c="cat", d="cat", e="owl"), *"acde", before=first.labels)
    assert then.labels == ("dog", "cat", "owl")
    assert by_tag(LabelledLibrary(c="cat", f="fox"), *"cf", before=then.labels).labels == ("fox", "cat", "")


def test_a_browser_that_knows_nonsense_gets_everything() -> None:
    sheet = Sheet("any")
    sheet.update(("a", "b"), points(1, 2), changed=())
    for version in (None, "", "1", [], 1e999, True):
        everything = sheet.since({"sheet": sheet.name, "version": version})
        assert everything is not None
        assert everything.num_rows == 2


def test_rows_that_are_no_numbers_have_no_card() -> None:
    sheet = Sheet("any")
    sheet.update(("a",), points(1), changed=())
    wanted = {"sheet": sheet.name, "rows": [False, True, None, "0", [], 10**30]}
    assert canvas._cards(cast(Reader, None), sheet, wanted) == {}
