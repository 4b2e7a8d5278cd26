"""`second-opinions VERB …`: a share is set, asked, answered, and a disagreement settled."""

import json

import pytest

from tests.store.cli.program import PENDING, Run

pytestmark = pytest.mark.usefixtures("root")


def test_a_decision_is_asked_again_answered_and_settled(run: Run) -> None:
    assert "no decision is asked again; `second-opinions share 5`" in run("second-opinions", "status").stdout
    run("second-opinions", "share", "100")
    run("reject", PENDING, "--reason", "scam", "--actor", "ann")
    assert "no coin waits for your second opinion" in run("second-opinions", "next", "--actor", "ann").stderr
    asked = run("second-opinions", "next", "--most", "9", "--actor", "ben", "--json").stdout
    assert PENDING in asked
    assert "scam" not in asked
    refused = run("second-opinions", "answer", "approve", PENDING, "--actor", "ann")
    assert (refused.returncode, "you decided it yourself" in refused.stderr) == (1, True)
    assert "answered 1" in run("second-opinions", "answer", "approve", PENDING, "--actor", "ben").stderr
    assert "rejected by ann: scam  approved by ben" in run("second-opinions", "contested").stdout
    found = json.loads(run("second-opinions", "status", "--json").stdout)
    assert (found["contested"], found["whole"]["opinions"], found["whole"]["agreed"]) == (1, 1, 0)
    assert "settled 1" in run("second-opinions", "settle", "approve", PENDING, "--actor", "cleo").stderr
    assert json.loads(run("show", PENDING, "--json").stdout)["tier"] == "approved"
    run("undo", "--actor", "cleo")
    assert json.loads(run("show", PENDING, "--json").stdout)["tier"] == "trash"
    assert run("second-opinions", "share", "101").returncode == 1
