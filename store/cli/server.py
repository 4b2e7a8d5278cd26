"""Verbs that start a server or say who may use it: the dashboard, its logins and password, agents."""

import getpass
import logging
import os
import sys
import time
from dataclasses import asdict
from typing import Annotated

from typer import Argument, Option

from store.cli.call import Call, has_library
from store.cli.terminal import local_time
from store.cli.verbs import port, verb
from store.disk.layout import PROGRAM
from store.errors import InvalidRecord, UnknownRecord, UnknownSession
from store.outcome import Refusal
from store.permissions import current_user
from store.runtime import LibraryRuntime, open_reader
from store.sessions import LoginSession, LoginSessions
from store.settings import settings


@verb("run")
def run(
    call: Call,
    port: Annotated[
        int | None, Option(metavar="N", parser=port, help="where it listens (8501, or the next free one)")
    ] = None,
    options: Annotated[
        list[str] | None, Argument(metavar="OPTION", help="after `--`, options of `streamlit run`")
    ] = None,
) -> int:
    """Start the dashboard in the browser."""
    settings()  # what is wrong there is said here, before the server starts
    command = [sys.executable, "-m", "streamlit", "run", str(PROGRAM / "app.py")]
    if port is not None:
        command.append(f"--server.port={port}")
    named = {"MEMEDEX_ROOT": str(call.root), **({"MEMEDEX_USER": call.actor} if call.actor else {})}
    os.execve(sys.executable, [*command, *(options or ())], os.environ | named)


@verb("sessions")
def sessions(
    call: Call,
    end: Annotated[list[str] | None, Option(metavar="ID…", help="end these, in all their tabs")] = None,
    end_all: Annotated[bool, Option("--end-all", help="end all of them")] = False,
) -> int:
    """Who is logged in to the dashboard; end their sessions."""
    file, refused = LoginSessions(call.root), list[Refusal]()
    if end_all:
        call.say(f"ended: {file.end_all():,}")
    for name in end or ():
        try:
            call.say(f"ended: {name}, {file.end(name).person}")
        except UnknownSession as error:
            refused.append(Refusal(name, str(error)))
    if not end and not end_all:
        _print_sessions(file.all(), call)
    return call.named(refused)


def _print_sessions(found: list[LoginSession], call: Call) -> None:
    now = time.time()
    fields = [{"id": one.id, **asdict(one), "is_over": one.is_over(now)} for one in found]
    for one in fields:
        del one["login"]  # what it is recognised by
    rows = [
        (one.id, one.person, local_time(one.began), local_time(one.seen), one.address, _state(one, now))
        for one in found
    ]
    head = ("SESSION", "WHO", "BEGUN", "SEEN", "FROM", "STATE")
    call.listed(fields, head, rows, empty="no logins yet")


def _state(session: LoginSession, now: float) -> str:
    if session.ended is not None:
        return f"ended by {session.ended_by}"
    return "expired" if session.is_over(now) else "open"


@verb("password")
def password(
    call: Call, remove: Annotated[bool, Option("--remove", help="disable password login")] = False
) -> int:
    """Set the shared password of the dashboard."""
    text = "" if remove else _typed()
    if not text and not remove:
        raise InvalidRecord("an empty password lets nobody in; --remove does so")
    file = LoginSessions(call.root)
    removed = "removed" if file.has_password else "there was no password"
    file.set_password(text)
    call.say(removed if remove else "set; who knows it can log in to the dashboard")
    return 0


def _typed() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    text = getpass.getpass("Password: ")
    if text != getpass.getpass("Once more: "):
        raise InvalidRecord("the two are not the same; nothing was changed")
    return text


@verb("mcp")
def mcp(
    call: Call,
    http: Annotated[
        int | None,
        Option(metavar="PORT", parser=port, help="streamable HTTP on loopback, instead of standard input"),
    ] = None,
) -> int:
    """Serve agents over the Model Context Protocol."""
    from store.mcp.access import Access
    from store.mcp.tools import server
    from store.mcp.transports import serve_http, serve_stdio
    from store.memory.memory import has_memory

    root = call.root
    if not has_library(root) and not has_memory(root):  # a mistyped --root must not make one
        raise UnknownRecord(f"there is no library in {root}; --root names another place")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    chosen = settings().memory_review
    access = Access(
        root, actor=call.actor or current_user(), open_reader=open_reader,
        carry_out=LibraryRuntime.carry_out_for_agents,
        is_reviewed=chosen == "agents" if chosen else bool(http),
    )  # fmt: skip
    try:
        call.say(f"opened for {access.access_description}")
        if http:
            serve_http(server(access), port=http, token=settings().mcp_token)
        else:
            sys.stdout = sys.__stdout__  # the protocol's; all other output is diverted by it
            serve_stdio(server(access))
    finally:
        access.close()
    return 0
