"""The map: every record as a point, drawn by a component of our own."""
