"""The command line of the library; `main` runs one command."""

import sqlite3
from collections.abc import Sequence

from store.cli.arguments import parser
from store.cli.open_library import place_of
from store.cli.plain_errors import NO_MEMORY, is_short_of_memory, print_plainly
from store.cli.terminal import Terminal
from store.disk.files import refused
from store.errors import LibraryInUse, MemedexError, WrongSetting

REFUSED = 1
WRONG = 2  # as argparse itself ends for wrong usage
IN_USE = 3
_INTERRUPTED = 130  # as shells count an end by Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 some refused, 2 wrong usage, 3 in use elsewhere."""
    given = parser().parse_args(
        arguments
    )  # first: help and version are answers, and belong on standard output
    terminal = Terminal()
    try:
        with print_plainly(terminal):
            status = int(given.run(given, terminal))
    except LibraryInUse as error:
        terminal.say(str(error))
        return IN_USE
    except WrongSetting as error:
        terminal.say(str(error))
        return WRONG
    except MemedexError as error:
        terminal.say(f"{given.verb}: {error}")
        return REFUSED
    except (OSError, sqlite3.Error) as error:
        terminal.say(f"{given.verb}: {refused(error, place_of(given))}")
        return REFUSED
    except KeyboardInterrupt:
        terminal.say("stopped")
        return _INTERRUPTED
    except Exception as error:
        if not is_short_of_memory(error):
            raise
        terminal.say(f"{given.verb}: {NO_MEMORY}")
        return REFUSED
    return _INTERRUPTED if terminal.was_interrupted else status
