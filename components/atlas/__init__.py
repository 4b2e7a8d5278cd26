"""The map: every record as a point, drawn by a component of our own."""

from components.atlas.atlas import chosen, sheet, show
from components.atlas.sheet import Sheet

__all__ = ["Sheet", "chosen", "sheet", "show"]
