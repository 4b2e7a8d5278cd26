"""The caption editor: one coin, four facets, no typed text ever lost."""
