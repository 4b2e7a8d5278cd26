"""The library for agents: `python -m store mcp`."""

import logging
import sys
from argparse import ArgumentParser, Namespace

from store.cli import values
from store.cli.open_library import has_library, root_of
from store.cli.terminal import Terminal
from store.errors import UnknownRecord
from store.identity import current_user
from store.memory.engine.places import Places
from store.memory.engine.settings import reviews_agents
from store.runtime import open_reader
from store.settings import settings


def add_arguments(mcp: ArgumentParser) -> None:
    """The arguments of `mcp`."""
    mcp.add_argument(
        "--http",
        type=values.port,
        metavar="PORT",
        help="streamable HTTP on loopback, instead of standard input",
    )


def serve(arguments: Namespace, terminal: Terminal) -> int:
    """Serve agents until they end it, or Ctrl-C does; standard output belongs to the protocol.

    Raises UnknownRecord if the root holds neither a library nor a text memory.
    """
    from store.mcp import http, stdio
    from store.mcp.access import Access
    from store.mcp.tools import server

    root = root_of(arguments)
    if not has_library(root) and not Places(root).folder.is_dir():  # a mistyped --root must not make one
        raise UnknownRecord(f"there is no library in {root}; --root names another place")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    access = Access(
        root, actor=arguments.actor or current_user(), open_reader=open_reader,
        is_reviewed=reviews_agents(over_http=bool(arguments.http)),
    )  # fmt: skip
    try:
        terminal.say(f"opened for {access.access_description}")
        if arguments.http:
            http.serve(server(access), port=arguments.http, token=settings().mcp_token)
        else:
            sys.stdout = sys.__stdout__  # the protocol's; all other output is diverted by it
            stdio.serve(server(access))
    finally:
        access.close()
    return 0
