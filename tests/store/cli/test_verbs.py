"""Every command: what it does, what it prints where, and its exit status."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from store import demo
from store.catalog.filters import Filter
from store.chroma.collections import own_files
from store.cli.arguments import parser
from store.cli.terminal import Terminal
from store.disk.layout import Layout
from store.embedding import open_embedder
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library, open_reader
from tests.store.cli.program import (  # fmt: skip
    ALSO_KEPT,
    APPROVED,
    CAPTIONED,
    KEPT,
    NOWHERE,
    PENDING,
    PROJECT,
    Run,
)
from tests.store.conftest import address, coin, picture
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars


def tier(root: Path, key: str) -> str:
    with Reader(root) as reader:
        return reader.get(key).tier


def caption(root: Path, key: str) -> dict[str, Any]:
    with Reader(root) as reader:
        return dict(reader.get(key).sidecar["caption"])


# -- import ------------------------------------------------------------------------------------------------


def test_import_adds_valid_coins_and_names_refused_ones(run: Run, incoming: Path, tmp_path: Path) -> None:
    done = run("import", incoming)
    assert done.returncode == 1
    assert "added 2, already there 0, refused 1" in done.stderr
    assert address(12) in done.stderr
    with Reader(tmp_path / "res") as reader:
        assert set(reader.addresses(Filter(tier="pending"))) == {address(10), address(11)}


def test_import_reports_the_tier_of_existing_records(run: Run, root: Path, incoming: Path) -> None:
    (incoming / f"{address(12)}.png").unlink()
    (incoming / f"{address(12)}.json").unlink()
    (incoming / f"{KEPT}.json").write_text(json.dumps(coin(3).sidecar))
    (incoming / f"{KEPT}.png").write_bytes(picture(3))
    done = run("import", incoming, "--json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert sorted(report["added"]) == sorted([address(10), address(11)])
    assert report["present"] == {KEPT: "library"}
    assert report["refused"] == []
    assert "1 in library" in done.stderr


def test_import_names_a_missing_path(run: Run, incoming: Path) -> None:
    done = run("import", "no such folder")
    assert done.returncode == 1
    assert "no such folder" in done.stderr


def test_the_demo_library_can_be_searched_after_loading(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    some = demo.entries()[::8]  # all of them: tests/store/catalog/test_words.py
    monkeypatch.setattr(demo, "entries", lambda folder: some)
    assert run("demo").returncode == 0
    found = json.loads(run("search", "dog", "--json").stdout)
    assert found["compared"] == sum(entry.tier == "library" for entry in some) > 10


# -- list and show -----------------------------------------------------------------------------------------


def test_list_prints_each_sidecar_with_its_tier(run: Run, root: Path) -> None:
    listed = json.loads(run("list", "--json").stdout)
    assert {record["token_address"]: record["tier"] for record in listed} == {
        PENDING: "pending",
        APPROVED: "approved",
        CAPTIONED: "approved",
        KEPT: "library",
        ALSO_KEPT: "library",
    }
    (kept,) = (record for record in listed if record["token_address"] == KEPT)
    sidecar = json.loads(Layout(root).sidecar("library", KEPT).read_text())
    assert kept == {**sidecar, "tier": "library"}


def test_list_filters_by_tier(run: Run, root: Path) -> None:
    listed = json.loads(run("list", "--tier", "approved", "--json").stdout)
    assert {record["token_address"] for record in listed} == {APPROVED, CAPTIONED}


def test_list_filters_by_words(run: Run, root: Path) -> None:
    listed = json.loads(run("list", "--words", "frog", "--json").stdout)
    assert [record["token_address"] for record in listed] == [CAPTIONED]


def test_list_without_json_prints_a_table_with_full_addresses(run: Run, root: Path) -> None:
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["ADDRESS", "TIER", "NAME", "TICKER", "CREATED", "CAPTION"]
    assert {line.split()[0] for line in lines[1:]} == {PENDING, APPROVED, CAPTIONED, KEPT, ALSO_KEPT}


@pytest.mark.parametrize("verb", [["list"], ["history"], ["search", "dog"]])
def test_reading_without_a_library_returns_and_creates_nothing(
    run: Run, tmp_path: Path, verb: list[str]
) -> None:
    done = run(*verb, "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert (answer["hits"] if isinstance(answer, dict) else answer) == []
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_root_creates_no_library(run: Run, tmp_path: Path) -> None:
    done = run("--root", tmp_path / "rse", "approve", PENDING)
    assert done.returncode == 1
    assert "there is no library in" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_show_prints_one_record(run: Run, root: Path) -> None:
    shown = json.loads(run("show", KEPT, "--json").stdout)
    assert (shown["token_name"], shown["tier"]) == ("Coin 3", "library")
    assert "a dog in a space suit" in run("show", KEPT).stdout


def test_show_reports_an_unknown_address(run: Run, root: Path) -> None:
    done = run("show", NOWHERE)
    assert (done.returncode, done.stdout) == (1, "")
    assert NOWHERE in done.stderr


def test_an_evm_address_may_be_written_in_capitals(run: Run, root: Path) -> None:
    assert APPROVED.startswith("0x")
    shown = run("show", f"0x{APPROVED[2:].upper()}", "--json")
    assert json.loads(shown.stdout)["token_address"] == APPROVED


# -- commands that move and change -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "key", "goal"),
    [
        ("approve", PENDING, "approved"),
        ("back-to-review", APPROVED, "pending"),
        ("reject", PENDING, "trash"),
        ("promote", CAPTIONED, "library"),
        ("remove", KEPT, "approved"),
        ("delete", KEPT, "trash"),
    ],
)
def test_each_command_moves_a_record_to_its_target_tier(
    run: Run, root: Path, verb: str, key: str, goal: str
) -> None:
    done = run(verb, key, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"done": [key], "refused": []}
    assert tier(root, key) == goal


def test_restore_returns_a_record_to_its_former_tier(run: Run, root: Path) -> None:
    run("delete", KEPT)
    assert run("restore", KEPT).returncode == 0
    assert tier(root, KEPT) == "library"


def test_many_refusals_with_one_reason_are_printed_as_one_line(run: Run, root: Path) -> None:
    nobody = [address(number) for number in range(100, 130)]
    done = run("approve", *nobody, "--json")
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if "refused 30 for one reason" in line]
    assert len(told) == 1
    assert nobody[0] in told[0]
    assert nobody[20] not in done.stderr
    assert {refusal["item"] for refusal in json.loads(done.stdout)["refused"]} == set(nobody)


def test_approve_names_refused_records_and_approves_the_rest(run: Run, root: Path) -> None:
    done = run("approve", PENDING, KEPT, NOWHERE)
    assert done.returncode == 1
    assert f"refused {KEPT}" in done.stderr
    assert f"refused {NOWHERE}: no record has this address" in done.stderr
    assert tier(root, PENDING) == "approved"


def test_the_history_contains_the_reason_of_a_rejection(run: Run, root: Path) -> None:
    run("reject", PENDING, "--reason", "a copy of PEPE")
    (event, *_) = json.loads(run("history", "--address", PENDING, "--json").stdout)
    assert (event["verb"], event["reason"]) == ("reject", "a copy of PEPE")
    assert (event["before_tier"], event["after_tier"], event["who"]) == ("pending", "trash", "ann")


def test_caption_changes_only_the_given_facets(run: Run, root: Path) -> None:
    assert run("caption", KEPT, "--context", "up and away", "--emotions", "").returncode == 0
    assert caption(root, KEPT) == {
        "entity": "a dog in a space suit",
        "context": "up and away",
        "visual": "pixel art",
        "emotions": "",
    }


def test_caption_writes_tags_and_their_categories(run: Run, root: Path) -> None:
    run("caption", APPROVED, "--tags", " cat, moon ,")
    with Reader(root) as reader:
        record = reader.get(APPROVED)
    assert (record.tags, record.categories) == (["cat", "moon"], ["animals", "space"])
    assert record.caption == {}


def test_caption_with_nothing_to_write_is_wrong_usage(run: Run, root: Path) -> None:
    assert run("caption", KEPT).returncode == 2


def test_promote_all_promotes_captioned_records_and_names_the_rest(run: Run, root: Path) -> None:
    done = run("promote", "--all")
    assert done.returncode == 1
    assert f"refused {APPROVED}: caption" in done.stderr
    assert tier(root, CAPTIONED) == "library"
    assert tier(root, APPROVED) == "approved"


def test_chroma_is_up_to_date_when_a_command_ends(run: Run, root: Path) -> None:
    run("promote", CAPTIONED)
    run("delete", ALSO_KEPT)
    chroma_agrees_with_the_sidecars(root, open_embedder("offline"))


def test_a_command_succeeds_and_warns_when_chroma_fails(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise OSError("too many open files")

    monkeypatch.setattr("store.chroma.base_follower.ChromaProcess", refuse)
    done = run("promote", CAPTIONED)
    assert done.returncode == 0
    assert "Chroma is" in done.stderr
    assert "behind" in done.stderr
    assert tier(root, CAPTIONED) == "library"


@pytest.mark.parametrize("addresses", [[], ["--all", PENDING]])
def test_promote_requires_either_addresses_or_all(run: Run, root: Path, addresses: list[str]) -> None:
    assert run("promote", *addresses).returncode == 2


# -- undo, redo, history -----------------------------------------------------------------------------------


def test_undo_and_redo_apply_to_the_last_decisions(run: Run, root: Path) -> None:
    run("approve", PENDING)
    run("delete", CAPTIONED)
    assert run("undo", 2).returncode == 0
    assert (tier(root, PENDING), tier(root, CAPTIONED)) == ("pending", "approved")
    assert run("redo", 2).returncode == 0
    assert (tier(root, PENDING), tier(root, CAPTIONED)) == ("approved", "trash")


def test_undo_does_not_affect_another_users_decisions(run: Run, root: Path) -> None:
    run("approve", PENDING)
    done = run("undo", "--actor", "bob")
    assert done.returncode == 1
    assert "nothing to undo" in done.stderr
    assert tier(root, PENDING) == "approved"


def test_decisions_work_without_a_login_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 54321")

    monkeypatch.setattr("getpass.getuser", nameless)
    with open_library(tmp_path, embedder=Hashed()) as library:
        open_library(tmp_path).add([coin(1)])
        assert open_library(tmp_path).undo().done == [address(1)]
        assert library.history(limit=1)[0].actor == "somebody"


def test_history_is_printed_newest_first(run: Run, root: Path) -> None:
    run("--actor", "bob", "approve", PENDING)
    events = json.loads(run("history", "--json", "--limit", 3).stdout)
    assert [event["verb"] for event in events] == ["approve", "promote", "promote"]
    assert (events[0]["token_address"], events[0]["who"]) == (PENDING, "bob")


# -- search ------------------------------------------------------------------------------------------------


def test_search_lists_an_exact_ticker_match(run: Run, root: Path) -> None:
    found = json.loads(run("search", "$c3", "--json").stdout)
    assert found["named"] == [{"token_address": KEPT, "token_name": "Coin 3", "ticker": "C3"}]
    assert found["exact_matches"] == [KEPT]
    assert f"exact matches: Coin 3 · C3 ({KEPT})" in run("search", "c3").stderr


def test_search_explains_each_hit(run: Run, root: Path) -> None:
    found = json.loads(run("search", "astronaut dog", "--json").stdout)
    assert (found["query"], found["exact"], found["compared"]) == ("astronaut dog", True, 2)
    assert [hit["token_address"] for hit in found["hits"]] == [KEPT, ALSO_KEPT]
    assert (found["hits"][0]["token_name"], found["hits"][0]["ticker"]) == ("Coin 3", "C3")
    for hit in found["hits"]:
        given = sum(facet["contribution"] for facet in hit["facets"].values())
        assert given == pytest.approx(hit["score"], abs=1e-6)
    assert found["hits"][1]["facets"]["visual"]["present"] is False
    assert found["hits"][1]["facets"]["visual"]["cosine"] is None
    weights = {facet: given["weight"] for facet, given in found["hits"][0]["facets"].items()}
    assert weights == {"image": 0, "entity": 4, "context": 3, "visual": 2, "emotions": 1}


def test_only_the_given_weights_count(run: Run, root: Path) -> None:
    found = json.loads(run("search", "marble", "--weights", "context=2.5", "--json").stdout)
    assert found["weights"] == {"image": 0, "entity": 0, "context": 2.5, "visual": 0, "emotions": 0}
    for hit in found["hits"]:
        assert hit["score"] == pytest.approx(hit["facets"]["context"]["cosine"], abs=1e-6)


def test_all_weights_zero_finds_nothing_and_says_why(run: Run, root: Path) -> None:
    done = run("search", "marble", "--weights", "entity=0", "--json")
    assert json.loads(done.stdout)["hits"] == []
    assert "every weight is zero" in done.stderr


def test_a_picture_finds_itself(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(picture(4))
    (hit, *_) = json.loads(run("search", "--image", "photo.png", "--json").stdout)["hits"]
    assert hit["token_address"] == ALSO_KEPT


def test_more_like_an_example_leaves_the_example_out(run: Run, root: Path) -> None:
    found = json.loads(run("search", "--like", KEPT, "--json").stdout)
    assert [hit["token_address"] for hit in found["hits"]] == [ALSO_KEPT]


def test_search_accepts_the_syntax_of_the_search_page(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(picture(4))
    line = f'picture + 2 × "marble" − entity:"dog" + like:{KEPT} tier:library after:2001-01-01'
    found = json.loads(run("search", line, "--image", "photo.png", "--json").stdout)
    assert found["asked"] == line
    (hit,) = found["hits"]  # an example is not among its own results
    assert hit["token_address"] == ALSO_KEPT


def test_a_filter_in_the_line_equals_the_flag(run: Run, root: Path) -> None:
    run("tag", KEPT, "--add", "moon dog")
    by_line = json.loads(run("search", 'a coin tag:"moon dog"', "--json").stdout)
    by_flag = json.loads(run("search", "a coin", "--tag", "moon dog", "--json").stdout)
    assert by_line["hits"] == by_flag["hits"]
    assert [hit["token_address"] for hit in by_line["hits"]] == [KEPT]


def test_records_outside_the_library_are_found_by_their_words(run: Run, root: Path) -> None:
    done = run("search", "frog tier:approved", "--json")
    (hit,) = json.loads(done.stdout)["hits"]
    assert (hit["token_address"], hit["score"]) == (CAPTIONED, None)
    assert "only the library is searched by meaning" in done.stderr


def test_by_me_means_the_current_user(run: Run, root: Path) -> None:
    def found(actor: str) -> int:
        return len(json.loads(run("search", "by:me", "--actor", actor, "--json").stdout)["hits"])

    assert (found("ann"), found("bob")) == (2, 0)


def test_search_names_invalid_parts_and_uses_the_rest(run: Run, root: Path) -> None:
    done = run("search", f"marble + like:{NOWHERE} has:teeth", "--json")
    assert (done.returncode, len(json.loads(done.stdout)["hits"])) == (1, 2)
    assert "has:teeth is not understood" in done.stderr
    assert NOWHERE in done.stderr


def test_search_returns_at_most_top_hits(run: Run, root: Path) -> None:
    assert len(json.loads(run("search", "coin", "--top", 1, "--json").stdout)["hits"]) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [" "],
        ["dog", "--weights", "tail=3"],
        ["dog", "--weights", "entity"],
        ["dog", "--weights", "entity=-1"],
        ["dog", "--weights", "entity=nan"],
        ["dog", "--weights", "entity=1,entity=2"],
        ["dog", "--top", "0"],
        ["dog", "--top", "many"],
        ["dog", "--since", "yesterday"],
        ["tier:nowhere"],
        ["picture"],
    ],
    ids=" ".join,
)
def test_an_invalid_question_is_wrong_usage(run: Run, root: Path, wrong: list[str]) -> None:
    done = run("search", *wrong, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage:" in done.stderr


@pytest.mark.parametrize(
    "wrong", [["--image", "nowhere.png"], ["--image", "text.png"], ["--like", NOWHERE]], ids=" ".join
)
def test_a_question_about_a_missing_picture_or_record_is_refused(
    run: Run, root: Path, tmp_path: Path, wrong: list[str]
) -> None:
    (tmp_path / "text.png").write_text("not a picture")
    done = run("search", *wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("search: ")


# -- export, doctor, model, backup -------------------------------------------------------------------------


def test_an_export_can_be_imported_into_another_library(run: Run, root: Path, tmp_path: Path) -> None:
    assert run("export", "out.zip", "--format", "jsonl").returncode == 0
    assert run("--root", tmp_path / "other", "import", "out.zip").returncode == 0
    own = json.loads(run("list", "--json").stdout)
    other = json.loads(run("--root", tmp_path / "other", "list", "--json").stdout)
    assert {record["token_address"] for record in other} == {record["token_address"] for record in own}


@pytest.mark.parametrize("verb", ["list", "undo"])
def test_progress_is_shown_while_manually_added_files_are_read(
    verb: str, run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "memecoins" / "pending" / f"{address(7)}.json").write_text(json.dumps(coin(7).sidecar))
    (root / "memecoins" / "pending" / f"{address(7)}.jpg").write_bytes(picture(7))
    seen: list[tuple[str, int, int]] = []

    def watched(self: Terminal, work: Callable[[Progress], Any]) -> Any:
        progress = Progress()
        result = work(progress)
        seen.append((progress.what, progress.done, progress.total))
        return result

    monkeypatch.setattr(Terminal, "watch", watched)
    run(verb)
    assert ("looking at the files", 1, 1) in seen


def test_ctrl_c_while_opening_a_library_cancels_the_command(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Terminal, work: Callable[[Progress], Any]) -> Any:
        self.was_interrupted = True
        return work(Progress())

    with monkeypatch.context() as patch:
        patch.setattr(Terminal, "watch", interrupted)
        assert run("delete", KEPT).returncode == 130
    assert json.loads(run("show", KEPT, "--json").stdout)["tier"] == "library"


def test_export_overwrites_nothing(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "out.zip").write_text("mine")
    assert run("export", "out.zip").returncode == 1
    assert (tmp_path / "out.zip").read_text() == "mine"


def test_export_into_the_library_folder_is_refused(run: Run, root: Path) -> None:
    for place in ("memecoins/out.zip", "memecoins/pending/out", "memecoins/../memory/out", "memecoins"):
        done = run("export", f"{root}/{place}")
        assert done.returncode == 1
        assert "lies inside the library; export to a place outside" in done.stderr
    assert run("doctor").returncode == 0


def test_forget_vectors_requires_yes_and_is_recorded_in_the_history(run: Run, root: Path) -> None:
    with open_library(root) as library, library.catalog.writing() as db:
        db.execute("INSERT INTO vectors SELECT 'old' || key, 'litellm:paid', vector FROM vectors LIMIT 2")
    models = json.loads(run("delete-vectors", "--json").stdout)["vectors"]["library"]
    assert [(one["model"], one["is_in_use"]) for one in models] == [
        ("offline", True),
        ("litellm:paid", False),
    ]
    asked = run("delete-vectors", "litellm:paid")
    assert (asked.returncode, "2 vectors, 6,144 bytes" in asked.stderr) == (1, True)
    assert run("delete-vectors", "offline", "--yes").returncode == 1, "questions are embedded with it"
    done = run("delete-vectors", "litellm:paid", "--yes", "--actor", "ann")
    assert done.returncode == 0
    with open_reader(root) as reader:
        assert [one.model for one in reader.vectors_by_model()] == ["offline"]
        event = reader.history()[0]
    assert (event.verb, event.address, event.actor) == ("forget vectors", "litellm:paid", "ann")
    assert event.reason == "2 vectors, 6,144 bytes"


def test_doctor_exits_with_0_when_all_is_well(run: Run, root: Path) -> None:
    done = run("doctor", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"well": True, "findings": []})


def test_doctor_exits_with_1_and_names_the_problem(run: Run, root: Path) -> None:
    Layout(root).image("library", KEPT).unlink()
    done = run("doctor", "--json")
    assert done.returncode == 1
    assert KEPT in {finding["address"] for finding in json.loads(done.stdout)["findings"]}


def test_doctor_changes_nothing_without_the_repair_flag(run: Run, root: Path) -> None:
    layout = Layout(root)
    for path in own_files(layout.chroma):
        path.unlink()
    sidecar = layout.sidecar("library", KEPT)
    sidecar.write_text(
        sidecar.read_text(encoding="utf-8").replace("to the moon", "to Mars"), encoding="utf-8"
    )
    before = everything_in(layout)
    found = {each["what"]: each["address"] for each in json.loads(run("doctor", "--json").stdout)["findings"]}
    assert found == {"its files were changed outside the program": KEPT, "Chroma's files are gone": ""}
    assert everything_in(layout) == before
    assert run("doctor", "--repair").returncode == 0
    assert caption(root, KEPT)["context"] == "to Mars"
    chroma_agrees_with_the_sidecars(root, open_embedder("offline"))


def test_doctor_reports_an_interrupted_change_without_finishing_it(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise SystemExit

    with open_library(root) as library:
        monkeypatch.setattr(library._journal, "_apply", die)
        with pytest.raises(SystemExit):
            library.approve([PENDING])
    for _ in "twice":
        done = run("doctor", "--json")
        assert [each["address"] for each in json.loads(done.stdout)["findings"]] == [PENDING]
    assert PENDING in run("list", "--tier", "approved").stdout
    assert run("doctor").returncode == 0


def everything_in(layout: Layout) -> dict[Path, bytes]:
    """The content of every file of the library; for the catalog, the rows about records."""
    files = [path for path in layout.memecoins.rglob("*") if path.is_file()]
    content = {path: path.read_bytes() for path in files if not path.name.startswith(("catalog.", "writer."))}
    with Reader(layout.root) as reader, reader.catalog.reading() as db:
        rows = [
            tuple(row)
            for table in ("records", "history", "chroma_queue")
            for row in db.execute(f"SELECT * FROM {table}")
        ]
    return {**content, layout.catalog: repr(rows).encode()}


def test_doctor_repairs_a_damaged_catalog_and_a_missing_sidecar(run: Run, root: Path) -> None:
    with Layout(root).catalog.open("r+b") as catalog:
        catalog.write(bytes(100))
    refused = run("history")
    assert refused.returncode == 1
    assert "doctor --repair" in refused.stderr
    sidecar = Layout(root).sidecar("library", KEPT)
    expected = sidecar.read_bytes()
    sidecar.unlink()
    assert run("doctor").returncode == 1
    repaired = run("doctor", "--repair")
    assert repaired.returncode == 0
    assert "the old one is kept as" in repaired.stderr
    assert sidecar.read_bytes() == expected
    assert "promote" in run("history").stdout
    assert run("doctor").returncode == 0


def test_model_prints_the_active_model(run: Run, root: Path) -> None:
    assert run("model").stdout == "offline\n"


def test_an_unknown_model_changes_nothing(run: Run, root: Path) -> None:
    done = run("model", "crystal-ball")
    assert done.returncode == 1
    assert "crystal-ball" in done.stderr
    assert run("model").stdout == "offline\n"


def test_a_backup_can_be_restored(run: Run, root: Path) -> None:
    before = json.loads(run("list", "--json").stdout)
    assert run("backup", "copy").returncode == 0
    run("delete", KEPT, CAPTIONED)
    done = run("restore-backup", "copy")
    assert done.returncode == 0, done.stderr
    assert "what was there before is kept in" in done.stderr
    assert json.loads(run("list", "--json").stdout) == before
    assert run("doctor").returncode == 0
    chroma_agrees_with_the_sidecars(root, open_embedder("offline"))


def test_a_damaged_backup_is_named_and_not_restored(run: Run, root: Path, tmp_path: Path) -> None:
    run("backup", "copy")
    Layout(tmp_path / "copy").sidecar("library", KEPT).write_text("{}")
    done = run("restore-backup", "copy")
    assert done.returncode == 1
    assert f"refused memecoins/rag_db/metadata/{KEPT}.json" in done.stderr
    assert tier(root, KEPT) == "library"


# -- usage and output --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["fly"],
        ["list", "--tier", "heaven"],
        ["approve"],
        ["list", "--js"],
        ["undo", "-1"],
        ["undo", "0"],
        ["import", ""],
        ["--root", "", "list"],
        ["memory", "import-transcripts", " "],
        ["mcp", "--http", "x"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(run: Run, tmp_path: Path, wrong: list[str]) -> None:
    done = run(*wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage:" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_root_is_accepted_before_and_after_the_command(run: Run, root: Path, tmp_path: Path) -> None:
    elsewhere = {"MEMEDEX_ROOT": str(tmp_path / "empty")}
    assert len(json.loads(run("--root", root, "list", "--json", **elsewhere).stdout)) == 5
    assert len(json.loads(run("list", "--root", root, "--json", **elsewhere).stdout)) == 5
    assert json.loads(run("list", "--json", **elsewhere).stdout) == []


def test_a_name_cannot_inject_terminal_escape_sequences(run: Run, incoming: Path) -> None:
    sidecar = {
        **coin(10).sidecar,
        "token_name": "\x1b]0;owned\x07\x1b[2Jred\u202egpj",
        "description": "a\r\x1b[31mb",
    }
    (incoming / f"{address(10)}.json").write_text(json.dumps(sidecar))
    run("import", incoming)
    for output in (run("list").stdout, run("show", address(10)).stdout, run("history").stdout):
        assert "red" in output
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(output)


def test_every_command_and_flag_is_documented() -> None:
    text = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8")
    verbs = next(action for action in parser()._actions if action.dest == "verb").choices
    assert isinstance(verbs, dict)
    for verb, its in verbs.items():
        assert f"`{verb}" in text, verb
        for action in its._actions:
            for flag in action.option_strings:
                assert flag in ("-h", "--help") or flag in text, f"{verb} {flag}"
