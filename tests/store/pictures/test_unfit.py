"""Coins that are unfit for the screen: by words, by what is seen, by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

import pytest

from store.catalog import unfit_words
from store.catalog.filter_syntax import parsed
from store.catalog.unfit_words import UnfitWords
from store.errors import InvalidRecord
from store.library import Library
from store.pictures import unfit
from store.pictures.unfit import MAX_WORD
from store.progress import Progress
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

FIRST, SECOND, THIRD = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def sees(library: Library, monkeypatch: pytest.MonkeyPatch) -> Callable[[float, str], None]:
    """Looks at every picture again, with this nudity and this text in each."""

    def look(nudity: float, text: str = "") -> None:
        monkeypatch.setattr(library._nudity, "score", lambda _: nudity)
        monkeypatch.setattr(library._text_reader, "read", lambda _: text)
        library.picture_texts.read()

    return look


def flagged(library: Library, value: str = "yes") -> set[str]:
    line = parsed(f"unfit:{value}")
    assert not line.faults
    return set(library.addresses(line.filter))


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("token_name", "Fuck Coin", "“fuck” in the name"),
        ("token_name", "FuckCoin", "“fuck” in the name"),
        ("ticker", "SH1T", "“shit” in the ticker"),
        ("ticker", "SHIT2", "“shit” in the ticker"),
        ("token_name", "fuck_inu", "“fuck” in the name"),
        ("token_name", "Fu\u200bck Coin", "“fuck” in the name"),
        ("description", "Was für eine SCHEISSE", "“scheisse” in the description"),
        ("description", "Mierda de toro", "“mierda” in the description"),
    ],
)
def test_a_word_of_the_list_flags_a_coin_with_its_reason(
    library: Library, field: str, text: str, reason: str
) -> None:
    library.add([coin(0, **{field: text}), coin(1)])
    assert library.unfit.of(FIRST) == {"word": reason}
    assert library.unfit.of(SECOND) == {}
    assert (flagged(library), flagged(library, "no")) == ({FIRST}, {SECOND})


@pytest.mark.parametrize("name", ["Scunthorpe", "Classic Bassoon", "Cocktail", "Dickens", "Peacock Assets"])
def test_a_word_inside_another_word_does_not(library: Library, name: str) -> None:
    library.add([coin(0, token_name=name)])
    assert library.unfit.of(FIRST) == {}


def test_what_is_seen_and_read_in_a_picture_flags_its_coins(
    library: Library, sees: Callable[[float, str], None]
) -> None:
    library.add([coin(0)])
    sees(0.93, "oh shit")
    assert library.unfit.of(FIRST) == {"nudity": "nudity, 93%", "word": "“shit” in the text in the picture"}
    assert flagged(library, "nudity") == flagged(library, "word") == {FIRST}
    assert library.unfit.pictures() == {library.get(FIRST).image_hash}


def test_a_corrected_text_no_longer_flags(library: Library, sees: Callable[[float, str], None]) -> None:
    library.add([coin(0)])
    sees(0.01, "oh shit")
    library.correct_text([FIRST], "oh shift")
    assert flagged(library) == set()


def test_a_person_sets_and_clears_a_flag_and_takes_that_back(library: Library) -> None:
    library.add([coin(0, token_name="Fuck Coin"), coin(1)])
    library.flag([FIRST], False, actor="ada")
    library.flag([SECOND], True, actor="ada")
    assert flagged(library) == {SECOND}
    assert library.unfit.of(SECOND) == {"hand": "flagged by a person"}
    assert [event.verb for event in library.history(address=SECOND)] == ["flag", "import"]
    library.undo(2, actor="ada")
    assert flagged(library) == {FIRST}
    library.flag([FIRST], False)
    library.flag([FIRST], None)
    assert flagged(library) == {FIRST}
    assert "unfit" not in library.get(FIRST).sidecar


def test_a_flag_by_hand_survives_the_loss_of_the_catalog(
    library: Library, root: Path, embedder: Hashed
) -> None:
    library.add([coin(0), coin(1, token_name="Fuck Coin")])
    library.flag([FIRST], True)
    library.flag([SECOND], False)
    library.close()
    for file in (root / "memecoins").glob("catalog.sqlite3*"):
        file.unlink()
    with open_library(root, embedder=embedder) as rebuilt:
        assert flagged(rebuilt) == {FIRST}


def test_the_word_list_is_edited_and_every_coin_is_flagged_again(library: Library) -> None:
    library.add([coin(0, token_name="Fuck Coin"), coin(1, token_name="Rug Pull"), coin(2)])
    edits = library.unfit.edit_words(added=["RÜG  pull"], removed=["fuck"])
    assert (edits.added, edits.removed) == (("rug pull",), ("fuck",))
    assert flagged(library) == {SECOND}
    library.unfit.edit_words()
    assert flagged(library) == {FIRST}


def test_coins_of_an_earlier_version_are_flagged_once(library: Library) -> None:
    library.add([coin(0, token_name="Fuck Coin")])
    with library.catalog.writing() as db:
        db.execute("DELETE FROM unfit")
        db.execute("DELETE FROM meta WHERE key = 'unfit'")
    assert library.unfit.bring_up_to_date()
    assert flagged(library) == {FIRST}
    assert not library.unfit.bring_up_to_date()


def test_flagging_that_was_stopped_goes_on_where_it_was(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []
    progress, refresh = Progress(), unfit_words.refresh_unfit

    def counted(db: Connection, number: int, *, words: UnfitWords | None = None) -> bool:
        looked_at.append(number)
        progress.cancelled = len(looked_at) > 2
        return refresh(db, number, words=words)

    library.add(coin(number, token_name="Rug Pull") for number in range(6))
    monkeypatch.setattr(unfit, "_BATCH", 2)
    monkeypatch.setattr(unfit_words, "refresh_unfit", counted)
    library.catalog.set_meta(unfit_words.LIST_EDITS, json.dumps({"added": ["rug pull", "out of it"]}))
    assert library.unfit.bring_up_to_date(progress=progress)
    assert looked_at == [1, 2, 3, 4]
    assert library.unfit.bring_up_to_date()
    assert looked_at == [1, 2, 3, 4, 5, 6]
    assert flagged(library) == {address(number) for number in range(6)}
    library.catalog.set_meta(unfit_words.LIST_EDITS, "{}")
    looked_at.clear()
    progress.cancelled = False
    assert library.unfit.bring_up_to_date(progress=progress)
    library.catalog.set_meta(unfit_words.LIST_EDITS, json.dumps({"added": ["pull"]}))
    looked_at.clear()
    assert library.unfit.bring_up_to_date()
    assert looked_at == [1, 2, 3, 4, 5, 6], "other words flag all coins again"


def test_an_unknown_value_is_explained() -> None:
    assert parsed("unfit:maybe").faults == ["unfit: takes yes, no, hand, nudity or word"]


def test_a_word_is_not_longer_than_any_that_there_is(library: Library) -> None:
    with pytest.raises(InvalidRecord, match=f"more than {MAX_WORD} characters"):
        library.unfit.edit_words(added=["x" * (MAX_WORD + 1)])
    assert library.unfit.edit_words(added=["x" * MAX_WORD]).added == ("x" * MAX_WORD,)
