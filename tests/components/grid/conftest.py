"""The server's log of decisions, empty."""

import pytest

from components.grid.decision_log import AppliedDecisions


@pytest.fixture
def decision_log() -> AppliedDecisions:
    return AppliedDecisions()
