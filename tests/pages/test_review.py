"""Review: logos from the network, and coins still to be compared."""

import json
from pathlib import Path

import pytest

from store.duplicates.duplicates import Duplicates
from store.library import Library
from tests.pages.conftest import finish_jobs, opened, press, rerun, words
from tests.store.conftest import address


def test_logos_are_fetched_from_the_network_only_on_request(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    token = {"chainId": 1, "address": address(7), "name": "Far", "symbol": "F"}
    path.write_text(
        json.dumps({"name": "list", "tokens": [{**token, "logoURI": "http://127.0.0.1:9/a.png"}]})
    )
    app = opened("settings")
    press(app, "Import path", path=str(path))
    finish_jobs()
    assert [job.kind for job in library.jobs.all()] == [""]
    press(rerun(app), "Fetch 1 logo from the network")
    finish_jobs()
    job = library.jobs.all()[0]
    assert (job.kind, job.refused) == ("logos", 1)
    assert "not on the public internet" in library.jobs.items(job.id)[0].reason


def test_review_says_how_many_coins_are_still_to_be_compared(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 1_234)
    assert "1,234 to compare" in words(opened("review"))
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 0)
    assert "to compare" not in words(opened("review"))
