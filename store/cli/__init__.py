"""The command line of the library; `main` runs one command. `verbs.py` says how a verb is declared."""

from collections.abc import Sequence
from typing import Any

from typer.main import get_command, get_group

from store.cli.verbs import Verbs, app, chapter, program

# Importing them declares their verbs, in the order in which the help lists them.
# isort: off
from store.cli import server, exchange, inspecting, decisions, rules, copilot, search, models  # noqa: F401
from store.cli import second_opinions, jobs, maintenance  # noqa: F401
# isort: on


class _Memory(Verbs):
    """The verbs of the text memory, which are imported when they are asked for: no other needs it."""

    def list_commands(self, ctx: Any) -> list[str]:
        self._import()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        self._import()
        return super().get_command(ctx, cmd_name)

    def _import(self) -> None:
        if not self.commands:
            from store.cli import memory, memory_sources, memory_trust  # noqa: F401

            self.commands.update(get_group(memory.memory_verbs).commands)


app.add_typer(chapter("memory", "The text memory.", cls=_Memory))
_program = get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 some refused, 2 wrong usage, 3 in use elsewhere."""
    try:
        _program.main(arguments, prog_name=program())
    except SystemExit as end:  # how typer ends
        return int(end.code or 0)
    return 0
