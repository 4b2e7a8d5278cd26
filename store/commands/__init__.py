"""The verbs of the library on the command line (design section 9); `main` runs one of them."""

import sqlite3
from collections.abc import Sequence

from store.commands.arguments import parser
from store.commands.opening import root_of
from store.commands.terminal import Terminal
from store.errors import LibraryInUse, MemedexError
from store.files import refused

REFUSED = 1  # argparse itself ends with 2 for wrong usage
IN_USE = 3
_INTERRUPTED = 130  # as shells count an end by Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status: 0 done, 1 some refused, 2 wrong usage, 3 in use elsewhere."""
    terminal = Terminal()
    given = parser().parse_args(arguments)
    try:
        status = int(given.run(given, terminal))
    except LibraryInUse as error:
        terminal.say(str(error))
        return IN_USE
    except MemedexError as error:
        terminal.say(f"{given.verb}: {error}")
        return REFUSED
    except (OSError, sqlite3.Error) as error:
        terminal.say(f"{given.verb}: {refused(error, root_of(given))}")
        return REFUSED
    except KeyboardInterrupt:
        terminal.say("stopped")
        return _INTERRUPTED
    return _INTERRUPTED if terminal.was_interrupted else status
