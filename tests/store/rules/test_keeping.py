"""One coin of a pair is kept with what the other knew; one undo takes all of it back."""

from store.library import Library
from store.rules import keeping, running
from tests.store.conftest import address, coin
from tests.store.rules.conftest import COPY, ORIGINAL, copied, finished, rule


def test_the_kept_coin_gains_what_it_lacks_and_the_other_is_rejected(library: Library) -> None:
    library.add([coin(1, tags=["dog"]), copied(2, of=1, tags=["frog"], website="https://frog.example")])
    library.caption(COPY, caption={"entity": "a frog", "context": "of the pond"})
    library.caption(ORIGINAL, caption={"entity": "the frog"})
    library.duplicates.examine()
    running.save(library, rule("Best", do="keep", other="younger"))
    told = keeping.gain_in_words(library.get(ORIGINAL), [library.get(COPY)])
    assert told == "tags frog; caption context; fields website", "before anything is done"
    decision = finished(library, "Best", actor="ann")
    kept = library.get(ORIGINAL)
    assert kept.tags == ["dog", "frog"]
    assert dict(kept.caption) == {"entity": "the frog", "context": "of the pond"}
    assert kept.sidecar["website"] == "https://frog.example"
    assert (kept.tier, library.get(COPY).tier) == ("pending", "trash")
    reasons = {event.address: event.reason for event in library.history(decision=decision)}
    assert reasons == {ORIGINAL: "", COPY: "copy of Coin 1"}
    library.undo(actor="ann")
    assert library.get(COPY).tier == "pending"
    assert library.get(ORIGINAL).tags == ["dog"]
    assert "website" not in library.get(ORIGINAL).sidecar


def test_a_coin_of_the_library_is_not_rejected(library: Library) -> None:
    library.add([coin(1, tags=[]), copied(2, of=1)])
    library.approve([COPY])
    library.caption(COPY, caption={"entity": "a frog", "context": "of the pond"})
    library.promote([COPY])
    library.duplicates.examine()
    running.save(library, rule("Best", do="keep", other="younger"))
    finished(library, "Best")
    assert library.get(COPY).tier == "library"
    assert library.get(ORIGINAL).caption["entity"] == "a frog"


def test_a_coin_that_was_rejected_or_is_gone_does_not_cost_the_others(library: Library) -> None:
    library.add([coin(1), copied(2, of=1), coin(4), copied(5, of=4)])
    library.reject([ORIGINAL])
    pairs = [(ORIGINAL, [COPY]), (address(9), [COPY]), (address(4), [address(5)])]
    job = library.jobs.start("keep", pairs, name="Keep")
    assert library.jobs.wait(job.id, timeout=60)
    refused = library.jobs.items(job.id, state="refused")
    assert {item.key: item.reason for item in refused} == dict.fromkeys(
        [ORIGINAL, address(9)], "it was rejected or deleted since"
    )
    assert (library.get(COPY).tier, library.get(address(5)).tier) == ("pending", "trash")
