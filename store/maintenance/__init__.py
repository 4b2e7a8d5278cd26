"""Check a library and repair it: `doctor` finds and mends, in batches of `checks`; `repair` mends rows."""

__all__ = ["doctor"]
