"""The command line of the library; `main` runs one command. `verbs.py` says how a verb is declared."""

from collections.abc import Sequence

from typer.main import get_command

from store.cli.verbs import app, program

# Importing them declares their verbs, in the order in which the help lists them.
# isort: off
from store.cli import server, exchange, decisions, search, models, jobs, maintenance  # noqa: F401
from store.cli import memory_sources, memory_trust  # noqa: F401
# isort: on


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 some refused, 2 wrong usage, 3 in use elsewhere."""
    try:
        get_command(app).main(arguments, prog_name=program())
    except SystemExit as end:  # how typer ends
        return int(end.code or 0)
    return 0
