"""The search page: the box, its filter, results, saved searches and their evaluation."""
