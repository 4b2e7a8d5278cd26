"""A library of coins without duplicates."""

import pytest

from store.library import Library
from tests.store.duplicates.copies import coin_with_drawing


@pytest.fixture
def three_coins(library: Library) -> Library:
    """A library of unrelated coins."""
    library.add(coin_with_drawing(number) for number in range(3))
    library.duplicates.examine()
    return library
