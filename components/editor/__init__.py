"""The caption editor: one coin, four facets, no typed text ever lost."""

from components.editor.editor import show

__all__ = ["show"]
