"""`python -m store VERB …`: the library on the command line."""

import sys

from store.commands import main

if __name__ == "__main__":
    sys.exit(main())
