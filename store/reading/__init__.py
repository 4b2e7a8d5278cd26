"""Read a library without changing it.

`reader` is the library without its verbs; `audit` and `statistics` count what it holds, `query_binding` finds
the coins that a query names.
"""

__all__ = ["audit", "query_binding", "statistics"]
