"""The one write path of a library, and undo.

A verb becomes an operation (`edits`, `intake`, `transitions`, `undo`), is prepared (`prepare`) and decided
(`journal`, `group_commit`). `recovery` and `reconcile` bring catalog and files together again, `salvage`
rebuilds a catalog; `trash` deletes for good.
"""
