"""Who was first: families of coins, the edges of their tree, and what is told of one coin."""

from typing import Any

import pytest
from PIL import ImageOps

from store.catalog import filter_syntax
from store.errors import BadPicture, UnknownRecord
from store.importing.candidate import Candidate
from store.library import Library
from store.rules import families
from tests.store.conftest import address, coin
from tests.store.duplicates.copies import drawing, jpg, normalised_picture, recompressed, with_shifted_hue
from tests.store.rules.conftest import COPY, ORIGINAL, OTHER, copied


def found(library: Library, line: str) -> list[str]:
    read = filter_syntax.parsed(line)
    assert read.faults == []
    return sorted(library.addresses(read.filter))


def pictured(number: int, image: Any, **more: Any) -> Candidate:
    return Candidate(f"coin {number}", coin(number, **more).sidecar, normalised_picture(image))


@pytest.fixture
def dogs(library: Library) -> Library:
    """Dogecoin; its picture mirrored; its name in other letters with another picture; and a stranger."""
    library.add(
        [
            pictured(1, drawing(1), token_name="Dogecoin", ticker="DOGE"),
            pictured(2, ImageOps.mirror(drawing(1)), token_name="Woof", ticker="WOOF"),
            pictured(3, drawing(2), token_name="Dоgecоin", ticker="DОGE"),  # Cyrillic o, each time
            pictured(4, drawing(3), token_name="Rocket", ticker="DOGE"),
        ]
    )
    library.duplicates.examine()
    return library


def test_pictures_and_spellings_make_a_family_and_a_ticker_alone_does_not(dogs: Library) -> None:
    kin = sorted([ORIGINAL, COPY, OTHER])
    assert found(dogs, f"family:{ORIGINAL}") == found(dogs, f"family:{COPY}") == kin
    assert found(dogs, f"family:{address(4)}") == [address(4)]
    assert found(dogs, "family:Dogecoin") == kin
    assert found(dogs, "family:$doge") == sorted([*kin, address(4)])
    assert found(dogs, f"-family:{COPY}") == [address(4)]
    assert found(dogs, "family:nothing") == []


def test_verdicts_join_and_separate(dogs: Library) -> None:
    dogs.duplicates.judge(address(4), "copy of", [ORIGINAL], actor="ann")
    assert address(4) in found(dogs, f"family:{COPY}")
    dogs.duplicates.judge(COPY, "different", [ORIGINAL], actor="ann")
    assert ORIGINAL not in found(dogs, f"family:{COPY}")
    dogs.undo(actor="ann")
    assert ORIGINAL in found(dogs, f"family:{COPY}")


def test_families_are_offered_by_how_often_a_picture_was_copied(dogs: Library) -> None:
    dogs.add([pictured(5, drawing(4)), pictured(6, recompressed(drawing(4)), token_name="Late")])
    dogs.add([pictured(7, with_shifted_hue(drawing(4)), token_name="Later")])
    dogs.duplicates.examine()
    offered = [(first.address, count) for first, count in families.most_copied(dogs, most=5)]
    assert offered == [(address(5), 3), (ORIGINAL, 3)]
    assert families.most_copied(dogs, most=1)[0][0].address == address(5)


def test_a_line_with_a_family_is_written_as_it_was_read() -> None:
    for line in ("family:Dogecoin", 'family:"to the moon"', "-family:DOGE"):
        assert filter_syntax.written(filter_syntax.parsed(line).filter) == line
    assert filter_syntax.parsed("family:").faults == ["family: needs a value"]


def test_edges_say_what_was_done(dogs: Library) -> None:
    dogs.approve([ORIGINAL])
    dogs.reject([COPY], reason="copycat")
    tree = families.family(dogs, OTHER)
    assert tree.count == 3
    assert (tree.first.address, tree.first.of) == (ORIGINAL, "")
    assert tree.first.standing.startswith("approved 20")
    mirrored, lettered = tree.members[1:]
    assert (mirrored.of, mirrored.done) == (ORIGINAL, ("mirrored",))
    assert mirrored.standing.endswith(": copycat")
    assert lettered.of == ORIGINAL
    assert lettered.done == ("cyrillic small letter o, for o",)


def test_a_coin_alone_is_its_own_family(dogs: Library) -> None:
    tree = families.family(dogs, address(4))
    assert [member.address for member in tree.members] == [address(4)]
    with pytest.raises(UnknownRecord):
        families.family(dogs, address(9))


def test_a_check_tells_of_a_copy_and_what_became_of_it(dogs: Library) -> None:
    dogs.reject([COPY], reason="copycat")
    (told,) = families.check(dogs, COPY.upper().replace("0X", "0x"))
    day = families.family(dogs, COPY).members[1].standing
    assert told.sentence.startswith("copy of Dogecoin (mirrored, 9")
    assert told.sentence.endswith(f" %), {day}")
    assert families.as_json(told)["copy_of"] == ORIGINAL
    original, *others = families.check(dogs, "doge")
    assert original.sentence == "first of its family, 2 like it, in review"
    assert {one.member.address for one in others} == {OTHER, address(4)}
    assert families.check(dogs, "cat") == []
    assert families.check(dogs, "") == []


def test_a_coin_that_was_not_compared_yet_is_not_called_the_only_one(library: Library) -> None:
    library.add([coin(1)])
    (told,) = families.check(library, ORIGINAL)
    assert told.sentence == "not compared with the others yet, in review"
    library.duplicates.examine()
    (told,) = families.check(library, ORIGINAL)
    assert told.sentence == "no coin like it, in review"


def test_a_judged_copy_is_told_with_who_judged(dogs: Library) -> None:
    dogs.duplicates.judge(address(4), "copy of", [ORIGINAL], actor="ann")
    (told,) = families.check(dogs, "rocket")
    assert told.sentence == "copy of Dogecoin (same ticker, so judged by ann, 100 %), in review"


def test_a_picture_is_told_with_the_coins_that_have_one_like_it(dogs: Library) -> None:
    told = families.check_picture(dogs, jpg(drawing(1)))
    assert [one.member.address for one in told] == [ORIGINAL, COPY]
    assert told[0].sentence == (
        "like Dogecoin (same picture, 100 %): first of its family, 2 like it, in review"
    )
    assert told[1].sentence.startswith("like Woof (mirrored, 9")
    assert families.check_picture(dogs, jpg(drawing(9))) == []
    with pytest.raises(BadPicture):
        families.check_picture(dogs, b"text")


def test_a_wave_of_one_picture_is_found_at_once_and_the_rest_of_its_tree_is_folded(library: Library) -> None:
    library.add([copied(number, of=1) for number in range(1, families.MOST + 21)])
    assert len(found(library, f"family:{ORIGINAL}")) == families.MOST + 20
    newest = address(families.MOST + 20)
    tree = families.family(library, newest)
    assert (tree.count, len(tree.members)) == (families.MOST + 20, families.MOST + 1)
    assert tree.members[-1].address == newest
    assert tree.members[-1].of == ORIGINAL
    assert tree.folded == {ORIGINAL: 19}


def test_a_tree_lists_each_coin_below_the_one_that_it_came_from(dogs: Library) -> None:
    dogs.add([pictured(5, ImageOps.mirror(drawing(1)), token_name="Bark", ticker="BARK")])
    dogs.duplicates.examine()
    lines = families.family(dogs, ORIGINAL).tree
    assert [(line.member.address, line.depth, line.up) for line in lines] == [
        (ORIGINAL, 0, 0), (COPY, 1, 1), (address(5), 2, 1), (OTHER, 1, 3),
    ]  # fmt: skip
    assert [line.member.edge for line in lines][2] == "same picture, 100 %"
    told = families.table(families.family(dogs, ORIGINAL))
    assert [(one["token_address"], one["copy_of"]) for one in told][2] == (address(5), COPY)


def test_a_family_is_found_by_ticker_and_name_and_an_address_in_any_case(dogs: Library) -> None:
    assert families.family(dogs, ORIGINAL.upper().replace("0X", "0x")).count == 3
    assert families.family(dogs, "dogecoin").count == 3
    assert families.family(dogs, "$DOGE").count == 4, "a ticker asks for all that have it"
    with pytest.raises(UnknownRecord, match="no coin has the address, ticker or name 'cat'"):
        families.family(dogs, "cat")


def test_a_judged_copy_stands_below_its_original_whatever_else_it_is_like(dogs: Library) -> None:
    dogs.duplicates.judge(address(4), "copy of", [COPY], actor="ann")
    own = next(one for one in families.family(dogs, COPY).members if one.address == address(4))
    assert (own.of, own.done, own.sure) == (COPY, ("so judged by ann",), 1.0)


def test_a_coin_that_no_earlier_one_is_like_stands_below_the_first(library: Library) -> None:
    library.add([coin(1, ticker="ONE"), coin(2, ticker="TWO"), copied(3, of=1, ticker="THREE")])
    library.duplicates.examine()
    library.duplicates.judge(address(3), "copy of", [address(2)], actor="ann")
    members = {one.address: one for one in families.family(library, address(3)).members}
    assert members[address(2)].of == ORIGINAL
    assert members[address(2)].edge == "by way of others"


def test_a_copy_in_other_colours_is_called_recoloured(library: Library) -> None:
    library.add(
        [
            pictured(1, drawing(1), token_name="Blue", ticker="BLUE"),
            pictured(2, with_shifted_hue(drawing(1)), token_name="Green", ticker="GREEN"),
            pictured(3, recompressed(drawing(1)), token_name="Small", ticker="SMALL"),
        ]
    )
    library.duplicates.examine()
    members = families.family(library, ORIGINAL).members
    assert [one.done for one in members] == [(), ("recoloured",), ("picture changed",)]
