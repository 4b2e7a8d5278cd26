"""A catalog on a network file system is refused."""

from pathlib import Path

import pytest

from store.disk.file_system import kind_of, refuse_network
from store.errors import ReadOnly

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 22 0:33 / /media/team\\040disk rw,relatime shared:2 - nfs4 server:/export rw,vers=4.2
38 22 0:35 / /media/größte\\040Platte rw - cifs //server/coins rw
37 36 0:34 / /media/team\\040disk/local rw - ext4 /dev/vdb rw
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    (tmp_path / "mountinfo").write_text(MOUNTS, "utf-8")
    return tmp_path / "mountinfo"


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ann/res", "ext4"),
        ("/media/team disk/res", "nfs4"),
        ("/media/team disk/local/res", "ext4"),
        ("/media/team diskette", "ext4"),
        ("/media/größte Platte/res", "cifs"),
    ],
)
def test_the_innermost_mount_tells_the_kind(folder: str, kind: str, mounts: Path) -> None:
    assert kind_of(Path(folder), mounts=mounts) == kind


def test_a_network_disk_is_refused_with_the_way_out(mounts: Path) -> None:
    refuse_network(Path("/home/ann/res"), mounts=mounts)
    with pytest.raises(ReadOnly, match=r"network file system \(nfs4\).*put the library on a disk of this"):
        refuse_network(Path("/media/team disk/res"), mounts=mounts)


def test_an_unknown_kind_is_taken(tmp_path: Path) -> None:
    refuse_network(tmp_path, mounts=tmp_path / "missing")
