"""Dates and whole numbers in the spellings of other programs."""

import pytest

from store.errors import BadSource
from store.importing.values import chain_id, unix_seconds, whole_number

NOON = 1_714_564_800  # of 1 May 2024


@pytest.mark.parametrize(
    "date",
    [
        *(NOON, NOON * 1000, NOON * 10**6, NOON * 10**9, float(NOON), f"{NOON}", f"{NOON}.0", "1.7145648E9"),
        *("2024-05-01T12:00:00Z", "2024-05-01 12:00:00 UTC", "2024-05-01 14:00:00 +0200", "2024/05/01 12:00"),
        *("2024-05-01T12:00:00.123456789Z", "2024-05-01 12:00:00 +0000 UTC", "1 May 2024 12:00"),
        *("Wed, 01 May 2024 12:00:00 GMT", "Wed May  1 12:00:00 2024", "May 1, 2024 12:00:00"),
    ],
)
def test_a_date_with_one_reading_is_read(date: object) -> None:
    assert unix_seconds(date) == NOON


def test_a_day_written_as_eight_digits_is_no_second_of_1970() -> None:
    assert unix_seconds(20240501) == unix_seconds("20240501") == NOON - 12 * 3600


@pytest.mark.parametrize("nothing", [None, "", " ", "NaT", "nan", "null", "N/A", "-", float("nan")])
def test_a_word_for_nothing_is_no_date(nothing: object) -> None:
    assert unix_seconds(nothing) is None


@pytest.mark.parametrize(
    "date",
    [
        "05/01/2024 12:00",
        "soon",
        -5,
        True,
        [],
        {},
        10**400,
        "9" * 400,
        1e308,
        float("inf"),
        "2024-13-01",
        "1e400",
    ],
)
def test_a_date_with_two_readings_or_none_is_named(date: object) -> None:
    with pytest.raises(BadSource, match="no date that can be read"):
        unix_seconds(date)


@pytest.mark.parametrize("nine", [9, 9.0, "9", "9.0", "9,0", " 9 ", "09", "+9", "0x9", "9.", "'9"])
def test_a_whole_number_is_read_in_every_spelling(nine: object) -> None:
    assert whole_number(nine, least=0, most=255) == 9


@pytest.mark.parametrize(
    "other", [None, "", "nine", 9.5, "9,5", -1, 256, True, "1e999999", float("inf"), [9]]
)
def test_anything_else_is_no_whole_number(other: object) -> None:
    assert whole_number(other, least=0, most=255) is None


@pytest.mark.parametrize("chain", [56, 56.0, "56", "0x38", "bsc", "BNB", "Binance Smart Chain", "eip155:56"])
def test_a_chain_is_known_by_number_and_name(chain: object) -> None:
    assert chain_id(chain) == 56


@pytest.mark.parametrize("other", [None, "", "mine", 0, -1, True, "eip155:"])
def test_another_word_is_no_chain(other: object) -> None:
    assert chain_id(other) is None
