"""A name that does not exist is answered with the nearest ones."""

import pytest

from store.memory.engine.inputs import UnknownEntry, check_known, nearest


def test_names_spelled_alike_come_first_the_most_similar_before() -> None:
    known = ["frogland", "frostland", "peaks", "Frogs"]
    assert nearest("froglnd", known)[:2] == ["frogland", "frostland"]
    assert nearest("FROGLAND", known)[0] == "frogland", "upper and lower case are equal"
    assert nearest("qqq", known) == []


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["frogland"], "there is no world 'froglnd'; the nearest: 'frogland'"),
        (["peaks"], "there is no world 'froglnd'; there is 'peaks'"),
        (["peaks", "docks"], "there is no world 'froglnd'; there are 'docks', 'peaks'"),
        ([*"abcd"], "there is no world 'froglnd'; there are 4, none of them spelled like it"),
        ([], "there is no world 'froglnd'; there is none yet"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(known: list[str], message: str) -> None:
    with pytest.raises(UnknownEntry) as refused:
        check_known("froglnd", known, what="world")
    assert str(refused.value) == message
    check_known("frogland", ["frogland"], what="world")
