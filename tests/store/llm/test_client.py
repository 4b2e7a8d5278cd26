"""How long a provider asks us to wait."""

import pytest

from store.llm.client import _retry_after


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("-7", 0),
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
    assert _retry_after({"retry-after": header}) == seconds
