"""Reviewing outside the grid: promotion, rejected coins, tags and the taxonomy."""
