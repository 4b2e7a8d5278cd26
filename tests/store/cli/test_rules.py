"""`rules VERB …`: saved, listed, previewed, run, exported, imported and deleted."""

import json
import shutil
from pathlib import Path

import pytest

from store.importing.candidate import Candidate
from store.runtime import open_library, open_reader
from tests.store.cli.program import PENDING, Run
from tests.store.conftest import address, coin, normal_picture

pytestmark = pytest.mark.usefixtures("root")
DOGS = ("rules", "add", "Dogs", "--do", "reject", "--when", "tag:dog", "--reason", "dogs")


def test_a_preview_says_what_the_kept_coins_would_get(run: Run, tmp_path: Path) -> None:
    with open_library(tmp_path / "res") as library:
        library.add(
            [coin(91, tags=["dog"]), Candidate("twin", coin(92, tags=["owl"]).sidecar, normal_picture(91))]
        )
        library.duplicates.examine()
    run("rules", "add", "Best", "--do", "keep", "--other", "younger", "--when", "name:coin")
    assert f"{address(91)} Coin 91, gets tags owl" in run("rules", "preview", "Best").stdout


def test_rules_leave_and_come_back_as_yaml(run: Run, tmp_path: Path) -> None:
    run(*DOGS)
    file = tmp_path / "rules.yaml"
    assert run("rules", "export", str(file)).returncode == 0
    assert run("rules", "export").stdout == file.read_text("utf-8")
    run("rules", "delete", "Dogs")
    file.write_text(file.read_text("utf-8") + "- name: Wrong\n  do: burn\n")
    done = run("rules", "import", str(file))
    assert done.returncode == 1
    assert "rules saved: Dogs" in done.stderr
    assert "rule 2 of the file: rule 'Wrong': do: 'burn' is none of" in done.stderr
    file.write_text("[]")
    assert "it has no list `rules:`" in run("rules", "import", str(file)).stderr


def test_a_coin_is_told_by_its_address_its_name_and_its_picture(run: Run, tmp_path: Path) -> None:
    line = f"Coin 0 (C0) {PENDING}: not compared with the others yet, in review\n"
    assert run("check", PENDING).stdout == run("check", "coin 0").stdout == line
    with open_reader(tmp_path / "res") as reader:
        picture = str(shutil.copy(reader.picture(PENDING), tmp_path))
    run("reject", PENDING, "--reason", "dull")
    (found,) = json.loads(run("check", picture, "--json").stdout)
    assert (found["token_address"], found["tier"], found["reason"]) == (PENDING, "trash", "dull")
    assert found["picture"] == "same picture, 100 %"
    nothing = run("check", "nobody")
    assert (nothing.returncode, nothing.stderr) == (0, "nothing like it is known\n")
    assert "No such file" in run("check", "gone.png").stderr
    assert "is no picture" in run("check", __file__).stderr


def test_a_published_folder_is_verified_without_a_library(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    done = run("publish", str(folder), "--json")
    key = json.loads(done.stdout)["key"]
    assert "as version 1.0.0" in done.stderr
    shutil.rmtree(tmp_path / "res")
    found = run("verify", str(folder), "--key", key)
    assert (found.returncode, found.stdout) == (0, "")
    assert f"files are as {key} signed them" in found.stderr
    (folder / "tokenlist.json").write_text("{}")
    wrong = run("verify", str(folder), "--json")
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["faults"] == ["tokenlist.json was changed after it was signed"]
    assert run("publish", str(folder), "colour:red").returncode == 2
