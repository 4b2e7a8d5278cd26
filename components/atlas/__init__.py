"""The map: every record as a point, drawn by a component of our own."""

from components.atlas.atlas import chosen, show

__all__ = ["chosen", "show"]
