"""`delete-vectors` asks before it deletes, and is recorded."""

import json
from pathlib import Path

from store.runtime import open_library, open_reader
from tests.store.cli.program import Run


def test_forget_vectors_requires_yes_and_is_recorded_in_the_history(run: Run, root: Path) -> None:
    with open_library(root) as library, library.catalog.writing() as db:
        db.execute("INSERT INTO vectors SELECT 'old' || key, 'litellm:paid', vector FROM vectors LIMIT 2")
    models = json.loads(run("delete-vectors", "--json").stdout)["vectors"]["library"]
    assert [(one["model"], one["is_in_use"]) for one in models] == [
        ("offline", True),
        ("litellm:paid", False),
    ]
    preview = run("delete-vectors", "litellm:paid")
    assert (preview.returncode, "2 vectors, 6,144 bytes" in preview.stderr) == (1, True)
    assert run("delete-vectors", "offline", "--yes").returncode == 1, "questions are embedded with it"
    done = run("delete-vectors", "litellm:paid", "--yes", "--actor", "ann")
    assert done.returncode == 0
    with open_reader(root) as reader:
        assert [one.model for one in reader.vectors_by_model()] == ["offline"]
        event = reader.history()[0]
    assert (event.verb, event.address, event.actor) == ("forget vectors", "litellm:paid", "ann")
    assert event.reason == "2 vectors, 6,144 bytes"
