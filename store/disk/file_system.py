"""The kind of file system that a folder is on."""

import re
import sys
from pathlib import Path

from store.errors import ReadOnly

_ESCAPED = re.compile(r"\\([0-7]{3})")  # spaces and backslashes in the name of a place
MOUNTS = Path("/proc/self/mountinfo")
# File systems of other machines: SQLite's write-ahead log needs memory that all its users share, and locks
# that hold (https://sqlite.org/wal.html, "Overview", 2).
_NETWORK = {
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.ceph",
    "fuse.curlftpfs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys", "fuse.gvfsd-fuse", "fuse.juicefs",
    "fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.seaweedfs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs",
    "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "pvfs2", "smb2", "smb3", "smbfs",
}  # fmt: skip


def kind_of(folder: Path, *, mounts: Path = MOUNTS) -> str:
    """The type of the file system that holds this folder, as Linux names it; "" where that is unknown."""
    if sys.platform != "linux" and mounts == MOUNTS:
        return ""
    folder, found, longest = folder.resolve(), "", 0
    for line in mounts.read_text("utf-8", errors="replace").splitlines():
        # Fields as in proc_pid_mountinfo(5): the fifth is the place, the type follows a lone hyphen.
        before, _, after = line.partition(" - ")
        place = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), before.split()[4])
        if folder.is_relative_to(place) and len(place) >= longest:
            found, longest = after.split()[0], len(place)
    return found


def refuse_network(folder: Path, *, mounts: Path = MOUNTS) -> None:
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
