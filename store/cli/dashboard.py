"""Start the dashboard from the command line: `memedex run`."""

import os
import sys
from argparse import REMAINDER, ArgumentParser, Namespace

from store.cli import values
from store.cli.open_library import root_of
from store.cli.terminal import Terminal
from store.disk.layout import PROGRAM
from store.settings import settings


def add_arguments(run: ArgumentParser) -> None:
    """The arguments of `run`."""
    run.add_argument(
        "--port", type=values.port, metavar="N", help="where it listens (8501, or the next free one)"
    )
    run.add_argument(
        "options", nargs=REMAINDER, metavar="OPTION", help="after `--`, options of `streamlit run`"
    )


def run(arguments: Namespace, terminal: Terminal) -> int:
    """Replace this process by the dashboard's server over this root; it ends with Ctrl-C."""
    settings()  # what is wrong there is said here, before the server starts
    command = [sys.executable, "-m", "streamlit", "run", str(PROGRAM / "app.py")]
    if arguments.port is not None:
        command.append(f"--server.port={arguments.port}")
    command += [option for option in arguments.options if option != "--"]
    named = {
        "MEMEDEX_ROOT": str(root_of(arguments)),
        **({"MEMEDEX_USER": arguments.actor} if arguments.actor else {}),
    }
    os.execve(sys.executable, command, os.environ | named)
