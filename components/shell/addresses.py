"""The host names, origins and path that this server was started for, and the addresses of its clients.

A page of another site can let its own name lead to this machine (DNS rebinding); the browser then takes this
server for that site. It still sends that site's name as `Host`, so that only the server's own names may be
answered. An IP address as `Host` cannot be such a name.
"""

import ipaddress
import socket
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit import config
from streamlit.auth_util import get_redirect_uri, get_secrets_auth_section
from streamlit.errors import StreamlitAPIException

OPTION = "server.allowedHosts"
_WHERE_DEFINED = "memedex"
LOOPBACK = ("localhost", "*.localhost", "127.0.0.1", "::1")


def allow_own_names() -> None:
    """Let Streamlit, too, answer only to this server's names, unless the option says which.

    A server on every address of the machine has addresses that it cannot know, such as those of a
    container's host; there `is_own` alone decides.
    """
    if not _is_given() and not _listens_everywhere():
        config.set_option(OPTION, own_names(), _WHERE_DEFINED)


def own_names() -> list[str]:
    """The host names of this server, `*.` standing for any subdomain; `*` is any name."""
    if _is_given():
        return [str(name) for name in st.get_option(OPTION)]
    address = str(st.get_option("server.address") or "")
    names = [*LOOPBACK, *public_names()]
    if _listens_everywhere():
        names += [socket.gethostname(), f"{socket.gethostname()}.local"]
    elif address not in names:
        names.append(address)
    return names


def public_names() -> list[str]:
    """The names under which other machines find this server, as far as its settings say them."""
    given = st.get_option(OPTION) if _is_given() else ()
    origins = [*st.get_option("server.corsAllowedOrigins"), _login_address()]
    names = [*map(str, given), *(_name_of(urlsplit(origin).netloc) for origin in origins)]
    return [name for name in dict.fromkeys(names) if name and not is_loopback(name)]


def is_own(host: str) -> bool:
    """Whether a request with this `Host` header is for this server."""
    name = _name_of(host)
    if not name:
        return False
    if _listens_everywhere() and not _is_given() and _is_ip_address(name):
        return True
    return any(_matches(name, own.strip().lower().rstrip(".").strip("[]")) for own in own_names())


def is_own_origin(origin: str, *, host: str) -> bool:
    """Whether a page of this origin may act here: it is this server's own, or the settings name it.

    Another port of the same machine is another origin.
    """
    scheme, _, place = origin.partition("://")
    if scheme in {"http", "https"} and place and place.lower() == host.lower():
        return True
    return any(_same(origin, str(allowed)) for allowed in st.get_option("server.corsAllowedOrigins"))


def is_loopback(place: str) -> bool:
    """Whether this host, with or without a port, is this machine."""
    name = place if place.count(":") > 1 and not place.startswith("[") else _name_of(place)
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_given() -> bool:
    return bool(st.get_option(OPTION)) and config.get_where_defined(OPTION) != _WHERE_DEFINED


def _listens_everywhere() -> bool:
    address = st.get_option("server.address")
    try:
        return not address or ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


@cache
def _login_address() -> str:
    """Where the login leads back to; looked up once, since the files of the secrets take a while."""
    try:
        section = get_secrets_auth_section()
        return str(get_redirect_uri(section) or "") if section else ""
    except StreamlitAPIException:  # there are no secrets, or they cannot be read
        return ""


def _name_of(host: str) -> str:
    """The name in a `Host` header in lower case, without port and brackets; "" if it is not one."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises ValueError for what is no number
    except ValueError:
        return ""
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return ""
    return (parts.hostname or "").rstrip(".")


def _matches(name: str, own: str) -> bool:
    return own in {"*", name} or (own.startswith("*.") and name.endswith(own[1:]))


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same(origin: str, allowed: str) -> bool:
    return origin.lower().rstrip("/") == allowed.strip().lower().rstrip("/")


@cache  # asked for with each picture, and never changed while the server runs
def base_path() -> str:
    """The path below which the whole app lies, "" for the root."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def counted_address(scope: Mapping[str, Any]) -> str:
    """The address of a request's client; of IPv6 the network, all of which one person may have.

    uvicorn has read `X-Forwarded-For` by now, if it comes from a proxy that it trusts: one of this machine,
    or of `FORWARDED_ALLOW_IPS`.
    """
    client = str((scope.get("client") or ("", 0))[0])
    try:
        found = ipaddress.ip_address(client)
    except ValueError:
        return client
    if found.version == 4:
        return client
    return str(found.ipv4_mapped or ipaddress.ip_network(f"{client}/64", strict=False))
