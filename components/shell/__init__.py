"""The base of every page: `page/` over `server/` over `session/` over the modules that lie here."""
