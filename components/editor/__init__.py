"""The caption editor: one coin, four facets, nothing that is typed ever lost."""

from components.editor.editor import show

__all__ = ["show"]
