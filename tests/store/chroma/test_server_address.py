"""How a Chroma server is named: address, tenant and key."""

from pathlib import Path

import pytest

from store.chroma.process import ServerAway
from store.chroma.server import ChromaServer, ServerCollections
from store.maintenance import doctor
from store.runtime import open_library
from store.settings import settings
from tests.store.chroma.chroma_run import ChromaRun, closed_behind
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]


def test_a_tenant_that_the_server_does_not_have_is_named(
    root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_CHROMA_TENANT", "nobody")
    settings.cache_clear()
    with closed_behind(open_library(root, embedder=embedder)) as library:
        library.promote(approved_with_caption(library, 1))
        assert not library.wait_for_chroma(60)
        assert "it has no tenant nobody (MEMEDEX_CHROMA_TENANT)" in library.status().chroma_fault


@pytest.mark.parametrize(
    ("url", "port"), [("http://one", 80), ("https://one/chroma", 443), ("http://one:8000", 8000)]
)
def test_an_address_without_a_port_has_that_of_its_scheme(url: str, port: int) -> None:
    assert ChromaServer(url).port == port


def test_doctor_offers_no_rebuild_while_the_server_is_away(
    root: Path, embedder: Hashed, on_server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert library.wait_for_chroma(60)
        on_server.kill()
        finding = next(one for one in doctor.check(library) if on_server.url in one.what)
        assert finding.remedy == "nothing is lost, Chroma follows when the server answers"


def test_a_tls_error_is_explained(server: ChromaRun) -> None:
    address = server.url.replace("http:", "https:")  # which this server does not speak
    with pytest.raises(ServerAway, match="SSL"):
        ServerCollections(ChromaServer(address), {}).has("memories")


def test_the_key_of_a_server_is_in_no_text() -> None:
    server = ChromaServer("http://one", api_key="secret")
    assert "secret" not in f"{server} {server!r}"


def test_doctor_says_that_a_server_ignores_keys(root: Path, embedder: Hashed, on_server: ChromaRun) -> None:
    with open_library(root, embedder=embedder) as library:
        found = [finding for finding in doctor.check(library) if not finding.is_fault]
    assert ["lets everybody in" in finding.what for finding in found] == [True]
