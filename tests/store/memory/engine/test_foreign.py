"""Numbers and dates of other programs are read by what they mean, or not at all."""

from typing import Any

import pytest

from store.memory.engine.foreign import moment, time_of, whole_number


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000+00:00"),
        ("2026-01-31T12:00:00.5+02:00", "2026-01-31T10:00:00.500+00:00"),
        ("2026-01-31", "2026-01-31T00:00:00.000+00:00"),
        ("2026/01/31 10:00", "2026-01-31T10:00:00.000+00:00"),
        ("2026-01-31 10:00:00 UTC", "2026-01-31T10:00:00.000+00:00"),
        ("Sat, 31 Jan 2026 10:00:00 GMT", "2026-01-31T10:00:00.000+00:00"),
        ("31.01.2026 10:00", "2026-01-31T10:00:00.000+00:00"),
        (1769853600, "2026-01-31T10:00:00.000+00:00"),
        ("1769853600", "2026-01-31T10:00:00.000+00:00"),
        ("1769853600.5", "2026-01-31T10:00:00.500+00:00"),
        (1769853600000, "2026-01-31T10:00:00.000+00:00"),
        (1769853600000000, "2026-01-31T10:00:00.000+00:00"),
        (1769853600000000000, "2026-01-31T10:00:00.000+00:00"),
        *((broken, None) for broken in ("yesterday", "", None, True, [], 1e300, "0001-01-01T00:00:00+05:00")),
        *((broken, None) for broken in (int("9" * 400), float("nan"), "10", "Jan", "01/02/2026")),
    ],
)
def test_times_become_sortable_text(given: Any, expected: str | None) -> None:
    assert moment(given) == expected


@pytest.mark.parametrize("name", ["timestamp", "ts", "created_at", "createdAt", "create_time", "updated_at"])
def test_a_time_is_found_under_any_of_its_names(name: str) -> None:
    assert time_of({"text": "x", name: "2026-01-31"}) == "2026-01-31T00:00:00.000+00:00"


def test_of_several_times_the_first_that_can_be_read_counts() -> None:
    given = {"updated_at": "2026-03-01", "created_at": "2026-01-31", "timestamp": None, "ts": ""}
    assert time_of(given) == "2026-01-31T00:00:00.000+00:00"
    assert time_of({"timestamp": "soon", "created_at": 1769853600}) == "2026-01-31T10:00:00.000+00:00"
    assert time_of({"text": "x"}) is None
    with pytest.raises(ValueError, match="its timestamp 'soon' is no date or time"):
        time_of({"timestamp": "soon"})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *((three, 3) for three in (3, 3.0, "3", " 3 ", "3.0")), ("-4", -4), (0, 0),
        *((broken, None) for broken in (2.5, "2.5", "x", "", None, True, 10**30, "9" * 30, "٣")),
    ],
)  # fmt: skip
def test_whole_numbers_are_read_in_any_spelling(given: Any, expected: int | None) -> None:
    assert whole_number(given) == expected
