"""Commands for a dashboard that others use: sessions, password."""

import getpass
import sys
import time
from argparse import Namespace
from dataclasses import asdict

from store.cli.jobs import Verbs
from store.cli.open_library import root_of
from store.cli.output import named
from store.cli.terminal import Terminal
from store.errors import InvalidRecord, UnknownSession
from store.outcome import Refusal
from store.sessions import LoginSession, LoginSessions


def add_arguments(verbs: Verbs) -> None:
    """`sessions` and `password`."""
    listed = verbs.add("sessions", sessions, "who is logged in to the dashboard; end their sessions")
    listed.add_argument("--end", nargs="+", default=[], metavar="ID", help="end these, in all their tabs")
    listed.add_argument("--end-all", action="store_true", help="end all of them")
    password = verbs.add("password", password_, "set the shared password of the dashboard")
    password.add_argument("--remove", action="store_true", help="disable password login")


def sessions(arguments: Namespace, terminal: Terminal) -> int:
    """List the logins of the last 40 days, or end some; a running dashboard notices within a second."""
    file, refused = LoginSessions(root_of(arguments)), list[Refusal]()
    if arguments.end_all:
        terminal.say(f"ended: {file.end_all():,}")
    for name in arguments.end:
        try:
            terminal.say(f"ended: {name}, {file.end(name).person}")
        except UnknownSession as error:
            refused.append(Refusal(name, str(error)))
    if not arguments.end and not arguments.end_all:
        _print(file.all(), arguments, terminal)
    return named(refused, terminal)


def password_(arguments: Namespace, terminal: Terminal) -> int:
    """Ask for the password, or read it as a line of standard input; ends the logins by an earlier one.

    Raises InvalidRecord if the password is empty.
    """
    text = "" if arguments.remove else _typed()
    if not text and not arguments.remove:
        raise InvalidRecord("an empty password lets nobody in; --remove does so")
    file = LoginSessions(root_of(arguments))
    removed = "removed" if file.has_password else "there was no password"
    file.set_password(text)
    terminal.say(removed if arguments.remove else "set; who knows it can log in to the dashboard")
    return 0


def _typed() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    text = getpass.getpass("Password: ")
    if text != getpass.getpass("Once more: "):
        raise InvalidRecord("the two are not the same; nothing was changed")
    return text


def _print(found: list[LoginSession], arguments: Namespace, terminal: Terminal) -> None:
    now = time.time()
    if arguments.json:
        fields = [{"id": one.id, **asdict(one), "is_over": one.is_over(now)} for one in found]
        for one in fields:
            del one["login"]  # what it is recognised by
        terminal.answer_json(fields)
    elif found:
        rows = [
            (one.id, one.person, _moment(one.began), _moment(one.seen), one.address, _state(one, now))
            for one in found
        ]
        terminal.answer_table(("SESSION", "WHO", "BEGUN", "SEEN", "FROM", "STATE"), rows)
    else:
        terminal.say("nobody has logged in yet")


def _state(session: LoginSession, now: float) -> str:
    if session.ended is not None:
        return f"ended by {session.ended_by}"
    return "expired" if session.is_over(now) else "open"


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
