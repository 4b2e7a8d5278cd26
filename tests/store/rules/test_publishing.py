"""Decisions as a folder of plain files: a Token List, evidence sheets, and a signature that holds."""

import json
import re
from base64 import b64decode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jsonschema import Draft7Validator, FormatChecker

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.errors import BadSource, InvalidRecord
from store.library import Library
from store.rules import publishing
from store.rules.publishing import publish, verify
from tests.store.conftest import address, coin
from tests.store.rules.conftest import copied

# Of https://github.com/Uniswap/token-lists, 1.0.0-beta.35; its licence, MIT, lies beside it.
SCHEMA = Draft7Validator(
    json.loads((Path(__file__).parent / "tokenlists" / "tokenlist.schema.json").read_text("utf-8")),
    format_checker=FormatChecker(),
)


@pytest.fixture
def decided(library: Library) -> Library:
    """Two approved coins of chains, one of none, and a rejected copy."""
    library.add([coin(0), coin(1), coin(2), copied(4, of=1, token_name="<b>Coin 1</b>")])
    library.duplicates.examine()
    library.approve([address(number) for number in (0, 1, 2)])
    library.reject([address(4)], reason="copy & cat", actor="ann")
    return library


def test_a_folder_has_the_list_the_evidence_and_a_signature_that_holds(
    decided: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    done = publish(decided, folder, name="Ours")
    assert (done.version, done.tokens, done.sheets) == ("1.0.0", 2, 1)
    assert [refusal.item for refusal in done.refused] == [address(2)]
    tokens = json.loads((folder / "tokenlist.json").read_bytes())
    assert {*tokens} >= {"name", "timestamp", "version", "tokens"}
    assert tokens["name"] == "Ours"
    found = verify(folder, expected=done.key)
    assert (found.faults, found.files, found.key) == ([], 4, done.key)


def test_a_sheet_stands_by_itself_and_shows_nothing_as_markup(decided: Library, tmp_path: Path) -> None:
    publish(decided, tmp_path / "site")
    sheet = (tmp_path / "site" / "rejected" / f"{address(4)}.html").read_text("utf-8")
    assert "copy of Coin 1 (same picture, 100 %), rejected" in sheet
    assert "copy &amp; cat" in sheet
    assert "by ann" in sheet
    assert "<b>Coin" not in sheet
    assert sheet.count('src="data:image/jpeg;base64,') == 3
    assert not re.search(r'(?:src|href)="(?!data:)', sheet)
    assert "<mark>&lt;</mark>" in sheet


def test_published_again_without_a_change_the_list_stays_as_it_is(decided: Library, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    publish(decided, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.html")}
    old = (folder / "tokenlist.json").read_bytes()
    publish(decided, folder)
    assert (folder / "tokenlist.json").read_bytes() == old
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.html")} == before


def test_versions_and_changes_follow_the_list_that_is_there(decided: Library, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    first = publish(decided, folder)
    decided.add([coin(6)])
    decided.approve([address(6)])
    assert publish(decided, folder).version == "1.1.0"
    assert re.search(r"Added: 1</h2><ul><li>Coin 6 \(C6\)", (folder / "changes.html").read_text())
    decided.reject([address(0)])
    decided.restore([address(4)])
    again = publish(decided, folder)
    assert (again.version, again.key) == ("2.0.0", first.key)
    assert sorted(path.stem for path in (folder / "rejected").iterdir()) == [address(0)]
    assert verify(folder).faults == []


def test_what_was_changed_removed_or_added_is_named(decided: Library, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    key = publish(decided, folder).key
    (folder / "index.html").write_text("other")
    (folder / "changes.html").unlink()
    (folder / "rejected" / "more.html").write_text("more")
    (folder / ".nojekyll").touch()
    assert verify(folder).faults == [
        "changes.html is missing",
        "index.html was changed after it was signed",
        "rejected/more.html is not in the manifest",
    ]
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("index.html", "indox.html"))
    assert verify(folder).faults == [
        "the signature of manifest.json does not match: trust nothing in this folder"
    ]
    (folder / "manifest.sig").unlink()
    assert "is missing or damaged" in verify(folder).faults[0]
    assert key


def test_a_folder_that_another_key_signed_is_not_ours(decided: Library, tmp_path: Path) -> None:
    mine = publish(decided, tmp_path / "mine").key
    theirs = publish(decided, tmp_path / "theirs", key=tmp_path / "other.pem").key
    assert mine != theirs
    assert verify(tmp_path / "theirs").faults == []
    assert verify(tmp_path / "theirs", expected=mine).faults == [f"it is signed by {theirs}, not by {mine}"]


def test_only_the_owner_may_read_the_key_and_it_stays(decided: Library, tmp_path: Path) -> None:
    publish(decided, tmp_path / "a")
    key = decided.layout.root / publishing.KEY
    assert key.stat().st_mode & 0o777 == 0o600
    content = key.read_bytes()
    publish(decided, tmp_path / "b")
    assert key.read_bytes() == content
    assert len(b64decode(verify(tmp_path / "b").key.removeprefix("ed25519:"))) == 32


def test_what_cannot_be_published_is_refused_and_nothing_written(decided: Library, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(BadSource, match="has other files"):
        publish(decided, folder)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    with pytest.raises(BadSource, match="nothing was published there"):
        verify(folder)
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("text")
    with pytest.raises(BadSource, match="is no private key"):
        publish(decided, tmp_path / "site2", key=wrong)
    curve = generate_private_key(SECP256R1())
    wrong.write_bytes(curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(BadSource, match="no Ed25519 key"):
        publish(decided, tmp_path / "site2", key=wrong)
    with pytest.raises(BadSource, match="a token list has 1 to 10,000 tokens, not 0"):
        publish(decided, tmp_path / "site2", filter=Filter(tags=("cat",)))
    unlisted = parsed(f"address:{address(2)}").filter
    with pytest.raises(BadSource, match=rf"none of 1 coins can be in a list; {address(2)}: "):
        publish(decided, tmp_path / "site2", filter=unlisted)
    assert not (tmp_path / "site2").exists()


def test_a_missing_picture_does_not_cost_the_sheet(decided: Library, tmp_path: Path) -> None:
    decided.picture(address(4)).unlink()
    publish(decided, tmp_path / "site")
    sheet = (tmp_path / "site" / "rejected" / f"{address(4)}.html").read_text("utf-8")
    assert "The rejected coin: its picture is missing." in sheet


def test_the_list_passes_the_schema_of_tokenlists_org(library: Library, tmp_path: Path) -> None:
    strange = {
        1: {"token_name": "x" * 200, "ticker": "T" * 60},
        2: {"token_name": "Dogé 🐕\u200b to\nthe\tmoon", "ticker": "$ D O G 🐕"},
        3: {"token_name": "نَجمة", "ticker": "星"},
        4: {"tags": ["Pixel Art", "dög", "x" * 40, *(f"tag-{number}" for number in range(20))]},
        5: {"description": "y" * 5_000, "extensions": {"website": "https://example.org", "holders": 12}},
    }
    library.add([coin(number, **strange.get(number, {})) for number in range(12)])
    library.approve(library.addresses(Filter()))
    publish(library, tmp_path / "site", name="Our 2nd list")
    tokens = json.loads((tmp_path / "site" / "tokenlist.json").read_bytes())
    assert [fault.message for fault in SCHEMA.iter_errors(tokens)] == []
    assert len(tokens["tokens"]) >= 5
    for name in ("", "x" * 31, "Dogs & cats", "Dög"):
        with pytest.raises(InvalidRecord, match="give 1 to 30 letters"):
            publish(library, tmp_path / "other", name=name)
        assert name == "Dög" or not SCHEMA.is_valid({**tokens, "name": name})  # JavaScript's \w is ASCII
