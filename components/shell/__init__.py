"""The base of every page: frame, login, session, refresh, pictures and formats."""
