"""The library of the tests of pages: coins in every tier."""

from tests.pages.conftest import (  # noqa: F401  fixtures
    _coins,
    _litellm,
    _without_forms_of_earlier_tests,
    empty,
    empty_memory,
    library,
    made,
)
