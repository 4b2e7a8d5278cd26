"""What an import would bring, said before; and what a person chooses otherwise."""

from pathlib import Path

import pytest

from store.importing import Candidate, candidates
from store.importing.names import KEPT, LEFT_OUT, Texts
from store.importing.preview import Choices, ImportPreview
from tests.store.importing.files import MINT, OTHER, png, write_files

TABLE = (
    f"Coin;Kurz;address;image;volume\nFrog;FROG;{MINT};a.png;9\nDog;DOG;{OTHER};https://example.org/d.png;7\n"
)


def previewed(folder: Path, choices: Choices | None = None) -> tuple[ImportPreview, list[Candidate]]:
    preview = ImportPreview()
    found = list(candidates([folder], choices=choices, preview=preview))
    return preview, [one for one in found if isinstance(one, Candidate)]


def test_a_preview_says_what_each_file_is_and_how_its_fields_map(tmp_path: Path) -> None:
    files = {"t.csv": TABLE.encode("cp1252"), "a.png": png(), "b.png": png("blue"), "b.txt": "dog, moon, été"}
    preview, _ = previewed(write_files(tmp_path / "in", files | {"c.psd": b"8BPS", "e.png": b"<html>"}))
    table, pictures, unread = (preview.kinds[kind] for kind in ("CSV table", "picture", "not read"))
    assert (table.coins, table.remote, table.names) == (1, 1, ["in/t.csv"])
    assert table.fields == {
        "Coin": "", "Kurz": "", "address": "token_address", "image": "picture", "volume": "",
    }  # fmt: skip
    assert table.values["volume"] == "9"
    assert table.shown()["token_name"] == "a"
    assert (pictures.coins, pictures.tagged, pictures.captioned) == (1, 1, 0)
    assert [one.item for one in pictures.refused] == ["in/e.png"]
    assert "save it as PNG" in unread.refused[0].reason
    assert preview.coins == 2
    assert [one.item for one in preview.refused] == ["in/e.png", "in/c.psd"]


def test_a_person_says_what_a_column_counts_as(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"t.csv": TABLE, "a.png": png()})
    fields = {"Coin": "token_name", "Kurz": "ticker", "address": KEPT, "volume": LEFT_OUT}
    _, (coin,) = previewed(folder, Choices(fields))
    assert (coin.sidecar["token_name"], coin.sidecar["ticker"]) == ("Frog", "FROG")
    assert coin.sidecar["address_given"] == MINT
    assert coin.sidecar["token_address"].startswith("local-")
    assert "volume" not in coin.sidecar


def test_columns_that_say_nothing_can_be_named(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"t.csv": "x,y\na.png,Frog\n", "a.png": png()})
    preview = previewed(folder)[0]
    assert preview.coins == 0
    assert preview.kinds["CSV table"].fields == {"x": "", "y": ""}
    assert preview.kinds["CSV table"].values == {"x": "a.png", "y": "Frog"}
    assert "say what one counts as" in preview.refused[0].reason
    _, (coin,) = previewed(folder, Choices({"x": "picture", "y": "token_name"}))
    assert coin.sidecar["token_name"] == "Frog"


@pytest.mark.parametrize(
    ("holds", "tags", "entity"),
    [
        ("guess", ["a frog", "green", "moon"], None),
        ("sentence", None, "a frog, green, moon"),
        ("tags", ["a frog", "green", "moon"], None),
    ],
)
def test_texts_are_tags_or_a_sentence_as_a_person_says(
    tmp_path: Path, holds: Texts, tags: list[str] | None, entity: str | None
) -> None:
    folder = write_files(tmp_path / "in", {"a.png": png(), "a.txt": "a frog, green, moon"})
    preview, (coin,) = previewed(folder, Choices(texts=holds))
    assert coin.sidecar.get("tags") == tags
    assert coin.sidecar.get("caption", {}).get("entity") == entity
    assert (preview.kinds["picture"].tagged, preview.kinds["picture"].captioned) == (
        (1, 0) if tags else (0, 1)
    )
