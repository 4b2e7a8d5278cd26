"""Refusals and notes of many items, told by their reasons."""

from store.outcome import ImportReport, Refusal, by_reason

NETWORK = "it lies on the network, `fetch-logos` gets it"


def test_reasons_are_grouped_without_what_they_quote_of_their_items() -> None:
    refused = [Refusal(f"{n}", f"no picture: “{n}.png” is not in the import") for n in range(3)]
    refused += [Refusal(f"t{n}", NETWORK) for n in range(5)]
    refused.append(Refusal("x", "token address 'x' is neither"))
    groups = [(reason, [one.item for one in found]) for reason, found in by_reason(refused)]
    assert groups == [
        (NETWORK, ["t0", "t1", "t2", "t3", "t4"]),
        ("no picture: … is not in the import", ["0", "1", "2"]),
        ("token address 'x' is neither", ["x"]),
    ]


def test_notes_of_many_coins_are_one_sentence() -> None:
    said = [Refusal(f"coin {n}", f"tags “{n}” is not a list") for n in range(30)]
    assert ImportReport(unread=said).notes == ["30: tags … is not a list (coin 0, …)"]
