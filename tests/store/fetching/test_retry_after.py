"""How long a busy server asks us to wait."""

import pytest

from store.fetching.retry_after import seconds_to_wait


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("-7", 0),
        ("6.5", 6.5),
        ("7200", 3600),
        ("1e999", 3600),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 99999999999999999999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2026 07:28:00 +99999999999999", None),
        ("", None),
    ],
)
def test_a_wait_is_a_bounded_number_of_seconds_or_unknown(header: str, seconds: float | None) -> None:
    assert seconds_to_wait(header) == seconds
