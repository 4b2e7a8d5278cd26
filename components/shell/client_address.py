"""The address by which strangers are counted, behind a trusted proxy as well as without one."""

import ipaddress
from collections.abc import Mapping
from typing import Any


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
