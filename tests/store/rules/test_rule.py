"""A rule is a value that reads as a sentence, and is refused with what to change."""

from typing import Any

import pytest

from store.errors import BadSource, InvalidRecord
from store.library import Library
from store.rules.rule import Rule, as_yaml, checked, from_yaml
from tests.store.rules.conftest import rule


def test_a_rule_reads_as_a_sentence() -> None:
    said = rule(when="dup:mirrored").sentence
    assert said == (
        "If “dup:mirrored” finds a coin and a coin like it (90% sure) is older, reject it as “copycat”."
    )
    blurred = Rule("Blurred", "hold", when="faults:blurred")
    assert blurred.sentence == "If “faults:blurred” finds a coin, hold it for a second look."


def test_a_line_that_names_no_tier_means_coins_in_review() -> None:
    assert rule(when="tag:dog").filter.tier == "pending"
    assert rule(when="tag:dog tier:approved").filter.tier == "approved"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": " "}, "a rule without a name: give it a name of 1 to 60 characters"),
        ({"name": "new Rule"}, "choose another name"),
        ({"do": "burn"}, "rule 'Copies': do: 'burn' is none of reject, approve, tag, keep, hold"),
        ({"when": "dupe:yes"}, "rule 'Copies': when: Unknown filter 'dupe'. Did you mean dup:?"),
        ({"when": "", "other": ""}, "without a filter it would mean all"),
        ({"when": "tier:library"}, "coins of the library cannot be rejected"),
        ({"promise": 95}, "promise: give a share from 0 to 1"),
        ({"promise": True}, "promise: give a share from 0 to 1"),
        ({"priority": 1.5}, "priority: give a whole number"),
        ({"do": "tag"}, "tags: name the tags that it adds"),
        ({"do": "keep", "other": "", "when": "dup:yes"}, "say which coin of a pair is kept"),
        ({"exceptions": "0xabc"}, "exceptions: give a list of texts"),
        ({"colour": "red"}, "it has no field 'colour'; there are name, do, when"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_change(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRecord) as refused:
        rule(**{"name": "Copies", **values})
    assert said in str(refused.value)


def test_rules_come_back_from_yaml_as_they_were() -> None:
    rules = [rule(exceptions=("0xabc",), priority=3), Rule("Blurred", "hold", when="faults:blurred")]
    assert from_yaml(as_yaml(rules)) == rules


def test_a_file_does_not_say_who_saved_a_rule() -> None:
    told = Rule("Blurred", "hold", when="faults:blurred", saved_by="ann", saved_at=5.0, told="why")
    assert from_yaml(as_yaml([told])) == [Rule("Blurred", "hold", when="faults:blurred")]


def test_one_wrong_rule_of_a_file_does_not_cost_the_others() -> None:
    first, second = from_yaml("rules:\n- name: A\n  do: burn\n- {name: B, do: hold, when: 'tag:dog'}\n")
    assert "rule 1 of the file: rule 'A': do: 'burn'" in str(first)
    assert second == Rule("B", "hold", when="tag:dog")


@pytest.mark.parametrize(
    "text", ["", "rules: none", "- a", "rules: [", "a: b: c", "!!python/object:os.system {}"]
)
def test_what_is_no_list_of_rules_is_refused(text: str) -> None:
    with pytest.raises(BadSource, match=r"not YAML|no list"):
        from_yaml(text)


def test_a_library_keeps_its_rules_and_a_deleted_one_comes_back(library: Library) -> None:
    library.rules.save("Copies", rule())
    assert library.rules.all() == {"Copies": rule()}
    library.rules.delete("Copies", actor="ann")
    assert library.rules.all() == {}
    (gone,) = library.removed.all()
    assert (gone.what, gone.name, gone.actor) == ("rule", "Copies", "ann")
    library.removed.restore(gone.id)
    assert library.rules.all() == {"Copies": rule()}


def test_a_field_of_another_type_is_refused() -> None:
    for field in ("when", "reason"):
        with pytest.raises(InvalidRecord, match=f"{field}: give a text"):
            checked({"name": "A", "do": "hold", field: 5})
