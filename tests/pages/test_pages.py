"""Each page: how it opens, and what its buttons store."""

import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.shell.page.places import PLACES
from store import __version__
from store.catalog.history import MOVE_ASIDE
from store.disk.files import file_hash
from store.jobs import background_worker
from store.jobs.background_worker import Worker
from store.library import Library
from store.progress import Progress
from store.runtime import open_library
from tests.browser.coins import COINS, DOG, PENDING, UNCAPTIONED
from tests.pages.conftest import OVERVIEW, finish_jobs, is_locked, opened, press, rerun, send, sendable, words

TITLES = {
    "": "Home",
    "review": "Review",
    "approved": "Approved",
    "captions": "Captions",
    "captions?view=Check": "Captions",
    "captions?view=AI drafts": "Captions",
    "captions?view=Find and replace": "Captions",
    "library": "Library",
    "library?tab=Rejected": "Library",
    "library?tab=All": "Library",
    "search": "Search",
    "search?view=Map": "Search",
    "search?view=Use as prompt": "Search",
    "memory": "Memory",
    "insights": "Insights",
    "insights?view=Reviewing": "Insights",
    "insights?view=Search quality": "Insights",
    "activity": "Activity",
    "activity?history_what=Jobs": "Activity",
    "settings": "Settings",
    "settings?section=Tags": "Settings",
    "settings?section=Language model": "Settings",
    "settings?section=Embedding model": "Settings",
    "settings?section=Past prompts": "Settings",
    "settings?section=Safe mode": "Settings",
    "settings?section=System status": "Settings",
}


@pytest.mark.parametrize("name", TITLES)
def test_every_page_opens_with_an_empty_library_and_says_in_one_line_what_it_is_for(
    name: str, empty: Library
) -> None:
    app = opened(name)
    assert app.title[0].value == TITLES[name]
    assert "?" in name or PLACES[TITLES[name]].about in words(app)


def test_about_names_the_version(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(st, "set_page_config", lambda **options: given.update(options))
    opened()
    assert f"Memedex {__version__}" in given["menu_items"]["About"]


def test_the_navigation_lists_the_ten_places_with_their_counts(library: Library) -> None:
    labels = [link.label for link in opened().sidebar.page_link]
    names = [label.split(" :")[0] for label in labels]
    assert names.pop(names.index("Review") + 1) == "Rules"
    assert names == [*PLACES]
    counts = {label.split(" :")[0]: label.split(" :")[1] for label in labels if " :" in label}
    assert counts == {
        "Review": "gray[1]",
        "Approved": "gray[1]",
        "Captions": "gray[1]",
        "Library": f"gray[{len(COINS)}]",
    }


def test_the_navigation_lists_saved_filters_below_the_library(library: Library) -> None:
    library.filters.save("Frogs", "tag:frog")
    links = opened().sidebar.page_link
    [saved] = [link for link in links if link.label == "Frogs"]
    names = [link.label.split(" :")[0] for link in links]
    assert names[names.index("Library") + 1] == "Frogs"
    app = opened(f"{saved.page}?{saved.query_string}")
    assert app.text_input(key="library_words").value == "tag:frog"


def tiles_of(app: AppTest) -> str:
    """The markup of the way of coins."""
    return next(str(one.proto.body) for one in app.get("html") if "memedex-flow" in str(one.proto.body))


def counted(app: AppTest) -> dict[str, int]:
    """The number of coins of each tier."""
    found = re.findall(r'class="name">(\w+)</span> <strong>([\d,]+)', tiles_of(app))
    return {tier: int(count.replace(",", "")) for tier, count in found}


def test_home_shows_the_way_of_coins_with_its_branch_and_the_next_steps(library: Library) -> None:
    app = opened()
    tiles = tiles_of(app)
    assert counted(app) == {"Review": 1, "Approved": 1, "Library": len(COINS), "Rejected": 0}
    assert re.findall(r'href="([^"]+)"', tiles) == [
        "/review",
        "/approved",
        "/library",
        "/library?tab=Rejected",
    ]
    assert f"<strong>{len(COINS) + 1}</strong>approved" in tiles
    assert f"<strong>{len(COINS)}</strong>promoted" in tiles
    assert "<strong>0</strong>rejected" in tiles
    assert tiles.count("<img") == 1 + 1 + len(COINS)
    message = words(app)
    assert "**1 coin** to review" in message
    assert "**1 coin** to caption" in message
    assert "ready to promote" not in message
    assert "Download" not in "".join(button.label for button in app.button)


def test_home_shows_the_map_once_it_is_laid_out(library: Library) -> None:
    def maps() -> list[str]:
        return [str(one.proto.body) for one in opened().get("html") if "memedex-map" in str(one.proto.body)]

    assert maps() == []
    library.jobs.start("map", name="Compute the map", options={"space": "fused", "from_scratch": True})
    finish_jobs()
    [picture] = maps()
    assert 'href="/search?view=Map"' in picture
    assert "data:image/png;base64," in picture


def test_undo_reverts_only_the_users_own_decision(library: Library) -> None:
    library.reject([PENDING.address], actor="somebody else")
    send(opened(), "undo")
    assert library.get(PENDING.address).tier == "trash"
    assert library.counts()["library"] == 0, "the promotion was the user's own last decision"


def test_a_coin_is_promoted_from_its_caption(library: Library) -> None:
    library.caption(UNCAPTIONED.address, caption={"entity": "An ape", "context": "Apes together"})
    send(opened("captions", address=UNCAPTIONED.address), f"promote-{UNCAPTIONED.address}")
    finish_jobs()
    assert library.get(UNCAPTIONED.address).tier == "library"


def test_a_coin_with_an_unsaved_draft_cannot_be_promoted(library: Library) -> None:
    library.caption(UNCAPTIONED.address, caption={"entity": "An ape", "context": "Apes together"})
    library.drafts.save(UNCAPTIONED.address, {"entity": "An ape on"})
    opened("captions", address=UNCAPTIONED.address)
    assert is_locked(f"promote-{UNCAPTIONED.address}")


def test_without_a_language_model_the_editor_leads_to_its_choice(library: Library) -> None:
    app = opened("captions", address=DOG.address)
    assert "Choose a language model" in [link.label for link in app.main.page_link]


def test_a_link_to_a_missing_coin_says_so(library: Library) -> None:
    [warning] = opened("captions", address="local-nobody").warning
    assert "This link opens no coin: no record has the address local-nobody" in warning.value.replace(
        "\\", ""
    )
    [warning] = opened("captions", address="z" * 3_000).warning
    assert len(warning.value) < 300


def test_system_status_and_history_list_foreign_files_moved_aside(library: Library) -> None:
    (library.layout.chroma / "chroma.sqlite3").write_bytes(b"somebody's")
    library._follower._place.clear_the_way()
    (aside,) = library.moved_aside()
    message = words(opened("settings", section="System status"))
    assert "a Chroma that cannot be read" in message
    assert aside.place.name in message
    history = opened("activity")
    assert "Moved aside" in words(history)
    offered = [form for form in sendable() if form.startswith("take-back-")]
    assert len(offered) == len([one for one in library.decisions() if one.verb != MOVE_ASIDE])


def test_the_check_finds_a_healthy_library(chroma: None, library: Library) -> None:
    assert library.wait_for_chroma(60)
    app = press(opened("settings", section="System status"), "Run check")
    finish_jobs()
    assert "All is well" in words(rerun(app))


def test_a_check_that_is_stopped_says_so_and_goes_on(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(path: Path) -> str | None:
        for job in library.jobs.under_way():
            library.jobs.cancel(job.id)
        return file_hash(path)

    with monkeypatch.context() as patched:
        patched.setattr("store.maintenance.doctor.file_hash", stop)
        app = press(opened("settings", section="System status"), "Run check")
        finish_jobs()
    shown = words(rerun(app))
    assert "rereads what changed" in shown
    assert "All is well" not in shown
    press(app, "Run check")
    finish_jobs()
    assert "rereads what changed" not in words(rerun(app))


def test_the_check_finds_a_changed_sidecar_and_repair_imports_it(chroma: None, library: Library) -> None:
    assert library.wait_for_chroma(60)
    path = library.layout.sidecar("pending", PENDING.address)
    path.write_text(path.read_text().replace(PENDING.name, "Renamed"))
    app = press(opened("settings", section="System status"), "Run check")
    finish_jobs()
    assert "1 problem found" in words(rerun(app))
    press(app, "Repair")
    finish_jobs()
    assert library.get(PENDING.address).name == "Renamed"


def test_search_says_when_all_weights_are_zero(library: Library) -> None:
    assert "All weights are zero" in words(opened("search", q="frog", w="0,0,0,0,0"))


@pytest.mark.slow
def test_a_second_program_sees_who_holds_the_library_and_can_open_it_read_only(library: Library) -> None:
    root = library.layout.root
    library.close()
    holding = "import sys; from pathlib import Path; from store.runtime import open_library, open_reader\n"
    holding += "open_library(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-W", "ignore", "-c", holding, str(root)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=OVERVIEW.parent) as other:
        assert other.stdout
        assert other.stdout.readline() == "open\n"
        app = opened()
        assert app.title[0].value == "The library is in use"
        assert str(other.pid) in words(app)
        press(app, "Open for reading")
        assert app.title[0].value == "Home"
        assert counted(app)["Library"] == len(COINS)
        other.communicate()


def test_a_damaged_catalog_can_be_repaired_from_the_page(library: Library) -> None:
    library.close()
    with library.layout.catalog.open("r+b") as catalog:
        catalog.write(bytes(4096))
    app = opened("activity")
    assert app.title[0].value == "The catalog is damaged"
    next(button for button in app.button if button.label == "Repair").click()
    assert "events of its history" in words(rerun(app))
    press(app, "Open the library")
    assert app.title[0].value == "Activity"
    assert "Promoted 4 coins" in words(app)
    open_library(library.layout.root).close()  # the page opened its own library


def test_system_status_lists_background_failures_and_unusable_pictures(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 3600.0)
    monkeypatch.setattr(background_worker, "LONGEST", 3600.0)

    def fail(_: Progress) -> None:
        raise OSError("the folder is away")

    message = words(opened("settings", section="System status"))
    assert "the folder is away" not in message
    library.picture(PENDING.address).write_bytes(b"cut short")
    library._prefetcher._set_apart(PENDING.address, "its picture is not what was written")
    with closing(Worker("polishing coins", fail)) as worker:
        worker.wake()
        assert not worker.wait(60)
        message = words(opened("settings", section="System status"))
        assert (
            "1 task failing, tried again by itself:\npolishing coins: OSError: the folder is away" in message
        )
        assert "(since just now; again in " in message
        assert f"{PENDING.address}: its picture is not what was written" in message
        assert "Background work fails:" in words(opened(""))
    assert "the folder is away" not in words(opened("settings", section="System status"))


def test_system_status_tells_how_many_copies_of_the_catalog_the_disk_has_room_for(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.catalog.keep_snapshot("daily")
    assert "the catalog is copied every day; a week is kept" in words(
        opened("settings", section="System status")
    )
    usage = shutil.disk_usage(library.layout.root)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "the disk has room for 1 of 7 daily copies of the catalog" in words(
        opened("settings", section="System status")
    )
