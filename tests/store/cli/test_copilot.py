"""`copilot VERB …`: turned on, asked what it promises, taught, run and turned off."""

import json

import pytest

from tests.store.cli.program import PENDING, Run

pytestmark = pytest.mark.usefixtures("root")


def test_it_is_turned_on_says_what_is_missing_and_is_turned_off(run: Run) -> None:
    assert "it is off; `copilot on` turns it on" in run("copilot", "status").stdout
    said = run("copilot", "on", "--bear", "5", "--actor", "ann").stdout.splitlines()
    assert said[0] == (
        "If a coin is in review and the co-pilot is sure enough, approve or reject it, at most 5 % wrong."
    )
    assert said[1].startswith("Too few decisions to learn from: 76 more decisions")
    found = json.loads(run("copilot", "status", "--json").stdout)
    assert (found["level"], found["bears"], found["version"], found["settles"]) == ("shown", 5.0, None, None)
    (listed,) = json.loads(run("rules", "list", "--json").stdout)
    assert (listed["name"], listed["do"], listed["saved_by"]) == ("co-pilot", "judge", "ann")
    assert "the co-pilot is off" in run("copilot", "off").stderr
    assert json.loads(run("rules", "list", "--json").stdout) == []


def test_before_it_learned_it_may_not_act(run: Run) -> None:
    refused = run("copilot", "on", "--level", "by itself")
    assert refused.returncode == 1
    assert "the co-pilot can only be shown: it has too few decisions to learn from" in refused.stderr
    taught = run("copilot", "train")
    assert taught.returncode == 1
    assert "more decisions" in taught.stderr
    assert run("copilot", "run").returncode == 2
    run("copilot", "on")
    assert "only shown" in run("copilot", "run").stderr


def test_a_share_that_cannot_be_promised_is_refused(run: Run) -> None:
    for bear in ("0", "50"):
        refused = run("copilot", "on", "--bear", bear)
        assert refused.returncode == 1
        assert "20 to 0.1 % of errors to bear" in refused.stderr


def test_a_preview_says_what_it_would_do(run: Run) -> None:
    lines = run("copilot", "preview").stdout.splitlines()
    assert lines[1] == "now: 0 coins"
    assert json.loads(run("copilot", "preview", "--json").stdout)["rule"]["do"] == "judge"


def test_before_it_learned_it_has_no_reasons(run: Run) -> None:
    asked = run("copilot", "why", PENDING)
    assert (asked.returncode, asked.stderr) == (
        1,
        "copilot: it has not learned yet; `copilot train` does so\n",
    )
