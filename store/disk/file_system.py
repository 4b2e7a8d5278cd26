"""The kind of file system below a path."""

import sys
from pathlib import Path

from store.errors import ReadOnly

_MOUNTS = Path("/proc/self/mountinfo")
# File systems of other machines: SQLite's write-ahead log needs memory that all its users share, and locks
# that hold (https://sqlite.org/wal.html, "Overview", 2).
_NETWORK = {
    "9p", "afs", "ceph", "cifs", "coda", "fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs",
    "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "smb2", "smb3", "smbfs",
}  # fmt: skip


def kind_of(folder: Path, *, mounts: Path = _MOUNTS) -> str:
    """The type of the file system that holds this folder, as Linux names it; "" where that is unknown."""
    if sys.platform != "linux" and mounts == _MOUNTS:
        return ""
    folder, found, longest = folder.resolve(), "", 0
    for line in mounts.read_text("utf-8", errors="replace").splitlines():
        # Fields as in proc_pid_mountinfo(5): the fifth is the place, the type follows a lone hyphen.
        before, _, after = line.partition(" - ")
        place = before.split()[4].encode().decode("unicode_escape")
        if folder.is_relative_to(place) and len(place) >= longest:
            found, longest = after.split()[0], len(place)
    return found


def refuse_network(folder: Path, *, mounts: Path = _MOUNTS) -> None:
    """Raises ReadOnly if a database in this folder would lie on another machine's disk."""
    try:
        kind = kind_of(folder, mounts=mounts)
    except OSError:
        return  # no /proc here
    if kind in _NETWORK:
        raise ReadOnly(
            f"{folder} is on a network file system ({kind}), where the catalog would be damaged sooner or "
            "later; put the library on a disk of this machine (docs/scaling.md)"
        )
