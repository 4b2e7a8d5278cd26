"""`python -m store COMMAND …`, or when installed `memedex COMMAND …`: the command line."""

import sys

from store.cli import main

if __name__ == "__main__":
    sys.exit(main())
