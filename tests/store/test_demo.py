"""The demo library is complete and valid, and loading it never overrides a user's decision."""

import json
import re
import shutil
import time
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from components.memory.kinds import KINDS as MEMORY_KINDS
from components.memory.kinds import text_of
from components.search.box import EXAMPLES
from components.shell.page.tour import STOPS
from store import Query, demo
from store.captioning.checkup import KINDS, CheckUp, words_of
from store.disk.layout import RESOURCES
from store.embedding import embedding_cache, open_embedder
from store.errors import BadSource
from store.library import Library
from store.memory import demo as memory_demo
from store.memory.memory import Memory
from store.progress import Progress
from store.reading.query_binding import parts_of, picture
from store.records import validate
from store.rules import learning, past
from store.search import query_syntax
from store.tags.taxonomy import Taxonomy

DAY = 86_400  # seconds
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ANSWERS = {  # a right one for each question about coins that the program or its README asks
    "an owl in the rain": "local-demo-storm-owl",
    "to the moon": "local-demo-angular-alien",
    "cyberpunk city at night": "local-demo-bullet-bike-bunny",
    "sad but funny": "local-demo-pear-shaped",
    "pixel art dog": "local-demo-shiba-moonwalk",
    '2 × "dog" − "text" tag:moon': "local-demo-shiba-moonwalk",
}
TOLD = {  # … and what stands in an entry that answers a question to the memory
    "Who guards the vault?": "The Silver Skull guards the vault",
    "Who lights the lamps?": "the Lanternhand family, still lights the lamps by hand",
    "How much is in the treasury?": "The dough has risen to four hundred and ten",
    "Which tickers do we prefer?": "tickers of three or four letters, never with digits",
    "When is a loan liquidated?": "A liquidation begins when the health of a loan falls below one",
    "Why is the memory empty after a restart?": "Let me look at how the key of the session is made",
}
CRUDE = {"damn", "crap", "hell", "ass", "shit", "shitcoins", "bastards", "poo", "cock"}


def planted(fault: str) -> set[str]:
    return {entry.address for entry in demo.entries() if entry.fault == fault}


@cache
def sidecars() -> dict[str, dict[str, Any]]:
    return {entry.address: entry.candidate().sidecar for entry in demo.entries()}


def tiers_of(library: Library) -> Counter[str]:
    return Counter({tier: count for tier, count in library.counts().items() if count})


@pytest.fixture
def small_demo(tmp_path: Path) -> Path:
    """A demo library of twelve coins: three for each tier, the library's with captions."""
    folder = tmp_path / "small_demo"
    folder.mkdir()
    manifest = json.loads((demo.FOLDER / "manifest.json").read_text())
    chosen = [
        coin
        for tier in ("pending", "approved", "library", "trash")
        for coin in [coin for coin in manifest["coins"] if coin["tier"] == tier][:3]
    ]
    for coin in chosen:
        for ending in (".json", ".jpg"):
            name = f"{coin['token_address']}{ending}"
            shutil.copy(demo.FOLDER / name, folder / name)
    (folder / "manifest.json").write_text(json.dumps({"coins": chosen}))
    shutil.copy(demo.FOLDER / "history.json", folder / "history.json")
    return folder


def of_tier(folder: Path, tier: str) -> list[str]:
    return [entry.address for entry in demo.entries(folder) if entry.tier == tier]


def test_every_page_has_enough_demo_coins() -> None:
    counted = Counter(entry.tier for entry in demo.entries())
    assert counted["library"] >= 240
    assert counted["pending"] >= 40
    assert counted["approved"] >= 20
    assert counted["trash"] >= 6


def test_every_coin_is_valid_for_its_tier() -> None:
    for entry in demo.entries():
        validate(entry.candidate().sidecar, tier=entry.tier)


def test_every_picture_is_a_square_jpg_of_512_pixels() -> None:
    for entry in demo.entries():
        with Image.open(demo.FOLDER / f"{entry.address}.jpg") as picture:
            assert (picture.format, picture.mode, picture.size) == ("JPEG", "RGB", (512, 512))


def test_the_folder_contains_only_files_named_in_the_manifest() -> None:
    named = {f"{entry.address}{ending}" for entry in demo.entries() for ending in (".json", ".jpg")}
    found = {path.name for path in demo.FOLDER.iterdir()}
    others = {name for name in found - named if not name.startswith("vectors-")}
    assert others == {
        "manifest.json", "history.json", "drafts.json", demo.TEXTS, demo.COPIES, "ATTRIBUTION.md",
    }  # fmt: skip


def test_the_folder_stays_small_enough_to_clone() -> None:
    assert sum(path.stat().st_size for path in demo.FOLDER.iterdir()) < 26_000_000


def test_about_a_third_of_the_captions_leave_an_optional_facet_empty() -> None:
    captions = [sidecars()[entry.address]["caption"] for entry in demo.entries() if entry.tier == "library"]
    empty = sum(not (caption.get("visual") and caption.get("emotions")) for caption in captions)
    assert 0.25 <= empty / len(captions) <= 0.5


@pytest.mark.slow
def test_captions_pass_their_own_checks_but_for_the_planted_faults(demo_library: Library) -> None:
    demo_library.embedder.warm()  # it judges whether captions fit their pictures
    found = CheckUp(demo_library).findings(Taxonomy.load(RESOURCES / "taxonomy.json"))
    for kind in KINDS:
        texts = {
            one.address
            for one in found[kind]
            if kind != "lacking" or "caption" in sidecars()[one.address]  # drafts wait for the others
        }
        if kind == "repeated":  # both are named
            assert planted(kind) <= texts
            assert len(texts) == 2 * len(planted(kind))
        elif kind == "picture":  # a model judges: it may doubt others too
            assert planted(kind) <= texts
            assert len(texts) <= 0.05 * len(sidecars())
        else:
            assert texts == planted(kind), kind
        assert planted(kind)


def test_names_tickers_and_descriptions_are_distributed_as_in_real_launches() -> None:
    """The shares of the open Coin-Meme table: a quarter, 14 per cent, 6 per cent."""
    coins = list(sidecars().values())
    tickers = Counter(coin["ticker"] for coin in coins)
    shared = sum(count for count in tickers.values() if count > 1)
    undescribed = sum(not coin["description"] for coin in coins)
    crude = sum(
        bool(CRUDE & words_of(f"{coin['token_name']} {coin['ticker']} {coin['description']}"))
        for coin in coins
    )
    assert shared / len(coins) == pytest.approx(0.25, abs=0.03)
    assert undescribed / len(coins) == pytest.approx(0.14, abs=0.02)
    assert crude / len(coins) == pytest.approx(0.06, abs=0.02)


def test_recorded_drafts_wait_for_approved_coins_and_say_that_they_are_recorded(
    demo_library: Library,
) -> None:
    waiting = demo_library.suggestions.waiting()
    assert len(waiting) >= 8
    for address in waiting:
        assert demo_library.get(address).tier == "approved"
        assert not demo_library.get(address).caption
        drafts = demo_library.suggestions.of(address)
        assert {one.model for one in drafts} == {demo.RECORDED}
        assert {one.facet for one in drafts} >= {"entity", "context", "tags"}


def test_pending_coins_have_no_captions_and_some_approved_coins_do() -> None:
    captioned = Counter(entry.tier for entry in demo.entries() if "caption" in entry.candidate().sidecar)
    assert captioned["pending"] == 0
    assert 0 < captioned["approved"] < sum(entry.tier == "approved" for entry in demo.entries())


def test_categories_match_the_taxonomy() -> None:
    taxonomy = Taxonomy.load(RESOURCES / "taxonomy.json")
    for address, sidecar in sidecars().items():
        assert sidecar["tags_categories"] == taxonomy.categories(sidecar["tags"]), address


def test_originals_have_unique_names_and_copycats_are_pending() -> None:
    coins = json.loads((demo.FOLDER / "manifest.json").read_text())["coins"]
    copies = {coin["token_address"]: coin["copy_of"] for coin in coins if "copy_of" in coin}
    originals = [coin for coin in coins if "copy_of" not in coin]
    names = [sidecars()[coin["token_address"]]["token_name"].casefold() for coin in originals]
    assert len(set(names)) == len(names)
    assert len(copies) >= 5
    assert all(coin["tier"] == "pending" for coin in coins if "copy_of" in coin)
    assert set(copies.values()) <= {coin["token_address"] for coin in originals}


def test_loading_puts_every_coin_in_its_tier(library: Library, small_demo: Path) -> None:
    report = demo.load(library, folder=small_demo)
    assert len(report.done) == 12
    assert report.refused == []
    assert tiers_of(library) == {"pending": 3, "approved": 3, "library": 3, "trash": 3}


@pytest.mark.slow
def test_vectors_come_with_the_demo_as_the_built_in_model_makes_them() -> None:
    """After a change of that model: python scripts/make_demo_vectors.py."""
    embedder = open_embedder("offline")
    with np.load(demo.FOLDER / demo.vectors_name(embedder)) as made:
        vectors = dict(zip(made["keys"].tolist(), made["vectors"], strict=True))
    for entry in demo.entries()[::60]:
        texts = embedding_cache.texts_of(entry.candidate().sidecar, embedder)
        for source in texts.values():
            [vector] = embedder.embed_texts([str(source.text)])
            np.testing.assert_allclose(vectors[source.key.encode()], vector, atol=1e-5)


def test_the_text_in_every_picture_was_read_before(demo_library: Library) -> None:
    assert demo_library.picture_texts.unread() == {}
    read = {demo_library.picture_texts.of(entry.address).text for entry in demo.entries()}
    assert len(read) > 50


def test_loading_again_changes_nothing(library: Library, small_demo: Path) -> None:
    demo.load(library, folder=small_demo)
    before = library.history(limit=-1)
    report = demo.load(library, folder=small_demo)
    assert report.done == []
    assert len(report.present) == 12
    assert library.history(limit=-1) == before


def test_loading_again_keeps_user_decisions(library: Library, small_demo: Path) -> None:
    demo.load(library, folder=small_demo)
    degraded, rejected, approved = (
        of_tier(small_demo, "library")[0],
        of_tier(small_demo, "approved")[0],
        of_tier(small_demo, "pending")[0],
    )
    library.degrade([degraded])
    library.reject([rejected])
    library.approve([approved])
    demo.load(library, folder=small_demo)
    assert library.get(degraded).tier == "approved"
    assert library.get(rejected).tier == "trash"
    assert library.get(approved).tier == "approved"


class CancelledAfter(Progress):
    """Progress that asks to stop once so many decisions about coins were repeated."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    @property  # type: ignore[override]
    def cancelled(self) -> bool:
        return self.done >= self._count

    @cancelled.setter
    def cancelled(self, value: bool) -> None:
        pass


@pytest.mark.parametrize("count", [1, 9, 20])
def test_the_next_load_finishes_a_cancelled_one(library: Library, small_demo: Path, count: int) -> None:
    demo.load(library, folder=small_demo, progress=CancelledAfter(count))
    assert tiers_of(library) != {"pending": 3, "approved": 3, "library": 3, "trash": 3}
    demo.load(library, folder=small_demo)
    assert tiers_of(library) == {"pending": 3, "approved": 3, "library": 3, "trash": 3}


def test_the_history_spans_three_months_and_three_people(demo_library: Library) -> None:
    events = demo_library.history(limit=-1)
    moments = [event.created_at for event in events]
    assert 80 * DAY < max(moments) - min(moments) < 100 * DAY
    assert max(moments) < time.time()
    assert {event.actor for event in events} == set(demo.PEOPLE)
    assert {event.verb for event in events} == {
        "import", "approve", "caption", "promote", "degrade", "return", "reject",
    }  # fmt: skip


def test_the_recorded_decisions_are_enough_for_the_co_pilot_to_promise(demo_library: Library) -> None:
    decided = Counter(one.was for one in past.decided(demo_library, since=0))
    assert learning.missing(decided["approved"], decided["rejected"], 0.02) == ""
    reasons = Counter(one.reason for one in past.decided(demo_library, since=0) if one.was == "rejected")
    assert {"copycat", "scam"} <= reasons.keys()


def test_copies_are_rejected_and_their_pictures_made_of_the_others(demo_library: Library) -> None:
    originals = [entry.address for entry in demo.entries()]
    copies = demo.copies(originals)
    assert len(copies) == 120
    assert {demo_library.get(copy.address).tier for copy in copies} == {"trash"}
    assert demo.copies(originals[:0]) == [], "none without its original"
    pictures = {demo_library.get(copy.address).image_hash for copy in copies}
    assert len(pictures) > 90, "mirrored, recoloured, lettered; some are the same"
    assert not pictures & demo_library.picture_texts.unread().keys()


def test_every_week_of_the_recorded_months_has_decisions(demo_library: Library) -> None:
    weeks = {int(event.created_at // (7 * DAY)) for event in demo_library.history(limit=-1)}
    assert weeks == set(range(min(weeks), max(weeks) + 1))


def test_captions_written_later_are_those_of_the_coin(demo_library: Library) -> None:
    written = [event.address for event in demo_library.history(limit=-1) if event.verb == "caption"]
    assert len(written) >= 30
    for address in written:
        assert demo_library.get(address).sidecar["caption"] == sidecars()[address]["caption"]


def test_a_coin_imported_earlier_stays_in_its_tier(library: Library, small_demo: Path) -> None:
    mine = next(entry for entry in demo.entries(small_demo) if entry.tier == "library")
    library.add([mine.candidate()], actor="somebody")
    demo.load(library, folder=small_demo)
    assert library.get(mine.address).tier == "pending"


def test_progress_reaches_100_percent(library: Library, small_demo: Path) -> None:
    progress = Progress()
    demo.load(library, folder=small_demo, progress=progress)
    assert progress.fraction == 1.0


def test_the_text_memory_comes_with_the_demo(
    library: Library, small_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "load", partial(demo.load, folder=small_demo))
    monkeypatch.setenv("MEMEDEX_EMBEDDER", "offline")
    progress = Progress()
    report = demo.load_with_memory(library, progress=progress)
    assert len(report.done) == 12
    assert progress.fraction == 1.0
    with Memory.open(library.layout.root) as memory:
        assert all(memory.status().counts.values())


def test_every_question_that_the_program_and_its_readme_ask_about_coins_has_a_right_answer(
    demo_library: Library,
) -> None:
    searched = re.findall(r"\*\*Search\*\* for `([^`]+)`", README)
    commands = re.findall(r"python -m store search '([^']+)'", README)
    assert searched
    assert commands
    asked = {*EXAMPLES, *searched, *commands, *(stop.parameters.get("q") for stop in STOPS)} - {None}
    assert asked == ANSWERS.keys()
    for line, address in ANSWERS.items():
        question = query_syntax.read(line)
        parts, faults = parts_of(demo_library, question, pictures=partial(picture, demo_library))
        assert not faults
        tier = question.filter.tier or "library"
        hits = demo_library.search(Query(parts, filter=replace(question.filter, tier=tier), fused=True)).hits
        assert address == hits[0].address, line


def test_every_question_that_the_program_and_its_readme_ask_the_memory_has_a_right_answer(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_EMBEDDER", "offline")
    [named] = re.findall(r"\*\*Memory\*\*: ask (who [^,]+),", README)
    examples = {kind.placeholder: name for name, kind in MEMORY_KINDS.items()}
    asked = {f"{named.capitalize()}?", *examples, *(stop.parameters.get("ask") for stop in STOPS)} - {None}
    assert asked == TOLD.keys()
    with Memory.open(library.layout.root) as memory:
        memory_demo.load(memory)
        for question, answer in TOLD.items():
            kind = examples.get(question, "world_lore")
            found = memory.search(question, kind=kind, limit=2)
            assert any(answer in " ".join(text_of(kind, row).split()) for row in found), question


def test_a_missing_demo_folder_raises_a_clear_error(library: Library, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="demo library"):
        demo.load(library, folder=tmp_path / "nowhere")
    assert tiers_of(library) == {}
