"""A small reverse proxy: hands everything below one path to a server, and says for whom."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_PIECE = 65_536
_MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class ReverseProxy:
    """Where it listens, and the paths that were asked for beside the one it hands on."""

    url: str
    strays: list[str] = field(default_factory=list)


@contextmanager
def reverse_proxy(path: str, port: int) -> Iterator[ReverseProxy]:
    """Hand requests below this path to the server at this port, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = ReverseProxy(f"http://127.0.0.1:{listener.getsockname()[1]}{path}")
        threading.Thread(target=_serve, args=(listener, proxy, path, port), daemon=True).start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, proxy: ReverseProxy, path: str, port: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            line, _ = listener.accept()
            threading.Thread(target=_hand_on, args=(line, proxy, path, port), daemon=True).start()


def _hand_on(line: socket.socket, proxy: ReverseProxy, path: str, port: int) -> None:
    with line, contextlib.suppress(OSError):
        head, _, body = _read_head(line).partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        if not first:
            return
        asked = first.split()[1].decode()
        if not (asked == path or asked.startswith((f"{path}/", f"{path}?"))):
            proxy.strays.append(asked)
            line.sendall(_MISSING)
            return
        if not any(header.lower().startswith(b"upgrade:") for header in headers):
            # One request for each connection: the next might be for another path.
            headers = [one for one in headers if not one.lower().startswith(b"connection:")]
            headers.append(b"Connection: close")
        headers += [b"X-Forwarded-For: 203.0.113.7", b"X-Forwarded-Proto: http"]
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(b"\r\n".join([first, *headers]) + b"\r\n\r\n" + body)
            back = threading.Thread(target=_pipe, args=(server, line), daemon=True)
            back.start()
            _pipe(line, server)
            back.join()


def _read_head(line: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received and (piece := line.recv(_PIECE)):
        received += piece
    return received


def _pipe(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
