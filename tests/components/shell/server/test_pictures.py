"""Pictures by signed address: anybody with the address sees the picture, and nobody can forge one."""

import pytest

from components.shell.server import pictures
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address


@pytest.fixture
def link(library: Library) -> str:
    return pictures.address(library, library.get(address(0)).image_hash)


def test_a_picture_is_served_as_immutable(client: Client, link: str) -> None:
    answer = client.get(link)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/webp"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content[8:12] == b"WEBP"


def test_the_large_view_has_its_own_address(client: Client, library: Library, link: str) -> None:
    large = pictures.address(library, library.get(address(0)).image_hash, size=pictures.LARGE)
    assert large != link
    assert client.get(large).status_code == 200


@pytest.mark.parametrize(
    "forge",
    [
        lambda link: link.replace("-320-", "-512-"),
        lambda link: f"{link[:-6]}{'0' if link[-6] != '0' else '1'}.webp",
        lambda link: link.replace(link.split("/")[-1][:64], "ab" * 32),
        lambda link: link.replace(".webp", ".svg"),
        lambda _: "/pictures/..%2f..%2fcatalog.sqlite3",
        lambda _: "/pictures/",
    ],
)
def test_a_forged_address_serves_nothing(client: Client, link: str, forge) -> None:
    assert client.get(forge(link)).status_code == 404


def test_a_picture_keeps_its_address_when_its_coin_moves(client: Client, library: Library, link: str) -> None:
    library.approve([address(0)])
    assert client.get(link).status_code == 200


def test_a_missing_picture_is_not_found(client: Client, library: Library, link: str) -> None:
    library.picture(address(0)).unlink()
    assert client.get(link).status_code == 404


def test_another_library_signs_a_different_address(library: Library, link: str) -> None:
    class Other:
        secret = b"of another library"
        unfit = library.unfit

    assert pictures.address(Other(), library.get(address(0)).image_hash) != link  # type: ignore[arg-type]
