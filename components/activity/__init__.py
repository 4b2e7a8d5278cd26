"""Activity: decisions and jobs in one time line."""
