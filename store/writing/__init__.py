"""The one write path of a library, and undo.

A verb becomes an operation (`edits`, `intake`, `transitions`), is prepared (`prepare`) and decided
(`journal`). `reconcile` brings catalog and files together again, `salvage` rebuilds a catalog; `trash`
deletes for good.
"""
