"""Ports for servers that tests start."""

import socket


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])
