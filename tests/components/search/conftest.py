"""The library of the tests of pages: coins in every tier."""

from tests.pages.conftest import _coins, _litellm, empty, library, made  # noqa: F401  fixtures
