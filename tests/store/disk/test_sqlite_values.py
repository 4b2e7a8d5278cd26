"""What SQLite can store, and be asked for."""

import sqlite3

import pytest

from store.disk.sqlite_values import is_integer, marks


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3]])
def test_there_is_a_mark_for_each_value(values: list[int]) -> None:
    query = f"SELECT value FROM json_each('[1, 2, 3, 4]') WHERE value IN ({marks(values)})"
    assert [row[0] for row in sqlite3.connect(":memory:").execute(query, values)] == values


@pytest.mark.parametrize("value", [0, 2**63 - 1, -(2**63)])
def test_an_integer_of_64_bits_can_be_stored(value: int) -> None:
    assert is_integer(value)
    assert sqlite3.connect(":memory:").execute("SELECT ?", [value]).fetchone() == (value,)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400, True, 1.0, "1", None])
def test_other_values_are_no_integers(value: object) -> None:
    assert not is_integer(value)
