"""The server's log of decisions, empty."""

import pytest

from components.grid.decision_log import Ledger


@pytest.fixture
def decision_log() -> Ledger:
    return Ledger()
