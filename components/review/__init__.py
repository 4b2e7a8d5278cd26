"""Reviewing outside the grid: promotion, tags, the taxonomy, the audit log and jobs."""
