"""The renames that carry out one change of an operation."""

from pathlib import Path

from store.disk.files import file_hash
from store.disk.layout import Layout
from store.operations import Change


def renames(layout: Layout, staged: Path, change: Change) -> list[tuple[Path, Path, str]]:
    """The renames of one change, in order: (from, to, SHA-256 of what arrives).

    `staged` is the operation's folder, with its new files; a sidecar that is replaced goes there.
    """
    before, after, name = change.before, change.after, change.address
    new_sidecar = staged / f"{name}.json"
    moves = []
    if before and has_new_sidecar(change) and new_sidecar.exists():
        old = layout.sidecar(before.tier, name)
        if old.exists():
            moves.append((old, staged / f"{name}.replaced.json", before.sidecar_hash))
    if has_new_sidecar(change):
        moves.append((new_sidecar, layout.sidecar(after.tier, name), after.sidecar_hash))
    if before is None:
        moves.append((staged / f"{name}.jpg", layout.image(after.tier, name), after.image_hash))
    elif before.tier != after.tier:
        if not has_new_sidecar(change):
            source = layout.sidecar(before.tier, name)
            moves.append((source, layout.sidecar(after.tier, name), after.sidecar_hash))
        source = layout.image(before.tier, name)
        moves.append((source, layout.image(after.tier, name), after.image_hash))
    return moves


def arrived(staged: Path, change: Change, source: Path, target: Path) -> str | None:
    """The SHA-256 of the file that arrived at `target`; None while it has not.

    A sidecar's text from before, which has not been replaced, is still there if the new one was lost.
    """
    found = None if source.exists() else file_hash(target)
    if change.before is None or found != change.before.sidecar_hash or not has_new_sidecar(change):
        return found
    return found if (staged / f"{change.address}.replaced.json").exists() else None


def has_new_sidecar(change: Change) -> bool:
    """Whether the change writes another sidecar."""
    return change.before is None or change.before.sidecar_hash != change.after.sidecar_hash
