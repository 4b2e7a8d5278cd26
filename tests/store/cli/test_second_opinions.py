"""`second-opinions next` does not tell what was decided; its other verbs: `interface/transcript.txt`."""

import pytest

from tests.store.cli.program import PENDING, Run


@pytest.mark.usefixtures("root")
def test_a_decision_is_asked_again_without_telling_it(run: Run) -> None:
    run("second-opinions", "share", "100")
    run("reject", PENDING, "--reason", "scam", "--actor", "ann")
    asked = run("second-opinions", "next", "--most", "9", "--actor", "ben", "--json").stdout
    assert PENDING in asked
    assert "scam" not in asked
