"""The renames that carry out one change of an operation."""

from pathlib import Path

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


def has_new_sidecar(change: Change) -> bool:
    """Whether the change writes another sidecar."""
    return change.before is None or change.before.sidecar_hash != change.after.sidecar_hash
