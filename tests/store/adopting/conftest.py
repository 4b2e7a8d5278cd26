"""Fixtures for adopted data: those of the text memory."""

from tests.store.memory.conftest import _without_chroma, bags, chroma, clock, reopen

__all__ = ["_without_chroma", "bags", "chroma", "clock", "reopen"]
