"""How often tests repeat what they do at random: kills, hostile input, sequences of verbs, steps of a walk.

MEMEDEX_TEST_LENGTH is the share of the whole: a tenth in `make test`, all of it (1) in `make test-long`.
MEMEDEX_TEST_SEED is the seed of the library that a person works through (`tests/browser/test_acceptance.py`).
"""

import os

LENGTH = float(os.environ.get("MEMEDEX_TEST_LENGTH", "0.1"))
SEED = int(os.environ.get("MEMEDEX_TEST_SEED", "1"))
STRIDE = 1 if LENGTH >= 1 else 4  # of the steps at which the power is cut or the disk refuses


def repeated(whole: int, *, least: int = 1) -> int:
    """This share of the whole number of repetitions, but no fewer than `least`."""
    return max(least, round(whole * LENGTH))
