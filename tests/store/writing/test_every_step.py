"""The world ends, or the disk refuses, at every single step of every verb: wholly before or wholly after."""

import errno
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.chroma.follower import LibraryFollower
from store.disk.files import Disk
from store.errors import NotWritten
from store.library import Library
from store.outcome import Outcome
from store.reading.reader import Reader
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, coin, furnished, written
from tests.store.hashed import Hashed
from tests.store.invariants import Contents, contents, holds, nothing_lies_around
from tests.store.world import Disaster, PowerCut, abandon

PENDING = [address(0), address(1)]
APPROVED = [address(2), address(3)]
CAPTIONED = [address(4), address(5)]
PROMOTED = [address(6), address(7)]
TRASH = [address(8), address(9)]
BYSTANDER = address(20)  # nobody touches it, but to see whether writing goes on

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_chroma")]


@pytest.fixture
def root(quick_root: Path) -> Path:
    return quick_root


@dataclass(frozen=True)
class Case:
    """A verb, and what has to be there first."""

    verb: Callable[[Library], Outcome]
    before: Callable[[Library], object] = lambda library: None


def import_three(library: Library) -> Outcome:
    return library.add(coin(number) for number in (10, 11, 12))


def recaption(library: Library) -> Outcome:
    return library.caption(PROMOTED[0], caption={"entity": "quite another", "visual": ""}, tags=["moon"])


CASES = {
    "import": Case(import_three),
    "approve": Case(lambda library: library.approve(PENDING)),
    "return": Case(lambda library: library.send_back(APPROVED)),
    "reject": Case(lambda library: library.reject([*PENDING, *APPROVED], reason="a copy")),
    "promote": Case(lambda library: library.promote(CAPTIONED)),
    "degrade": Case(lambda library: library.degrade(PROMOTED)),
    "delete": Case(lambda library: library.delete([*PENDING, *PROMOTED])),
    "restore": Case(lambda library: library.restore(TRASH)),
    "caption in approved": Case(lambda library: library.caption(CAPTIONED[0], caption=written("new"))),
    "caption in the library": Case(recaption),
    "tags in every tier": Case(
        lambda library: library.edit_tags([*PENDING, *CAPTIONED, *PROMOTED], add=["moon"], remove=["dog"])
    ),
    "undo an import": Case(lambda library: library.undo(), import_three),
    "undo a caption": Case(lambda library: library.undo(), recaption),
    "undo a promotion": Case(lambda library: library.undo(), lambda library: library.promote(CAPTIONED)),
    "undo a deletion": Case(lambda library: library.undo(), lambda library: library.delete(PROMOTED)),
    "undo what was changed since": Case(
        lambda library: library.undo(actor="first"),
        lambda library: (library.approve(PENDING, actor="first"), library.edit_tags(PENDING, add=["moon"])),
    ),
    "redo a caption": Case(lambda library: library.redo(), lambda lib: (recaption(lib), lib.undo())),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with something in every tier; to be copied, not used."""
    root = furnished(tmp_path_factory.mktemp("prepared") / "res")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LibraryFollower, "wake", lambda self: None)
        with open_library(root, embedder=Hashed()) as library:
            library.add(coin(number) for number in (0, 1, 2, 3, 8, 20))
            library.approve([*APPROVED, TRASH[0]])
            approved_with_caption(library, 4, 5, 6, 7, 9)
            library.promote([*PROMOTED, TRASH[1]])
            library.reject([TRASH[0]])
            library.delete([TRASH[1]])
            library.drafts.save(CAPTIONED[0], {"entity": "being typed"})
    return root


class Stage:
    """A library as it was before the verb, as often as one likes."""

    def __init__(self, folder: Path, case: Case, prepared: Path) -> None:
        self.verb = case.verb
        self.disaster = Disaster()
        self._folder = folder
        self._original = folder / "original"
        shutil.copytree(prepared, self._original)
        with self.opened(self._original) as library:
            case.before(library)
            self.before = contents(library)
        self._number = 0
        with self.fresh() as library:
            self.disaster.cut_power(10**6)
            case.verb(library)
            self.steps = [*self.disaster.steps]
            self.after = contents(library)
            holds(library)

    def fresh(self) -> Library:
        """The library as it was before the verb, on a disk that can be struck."""
        shutil.rmtree(self._folder / "res")
        shutil.copytree(self._original, self._folder / "res")
        self.disaster = Disaster()
        return self.opened(self._folder / "res", self.disaster)

    def again(self) -> Library:
        """The library of the last `fresh`, opened after whatever happened to it."""
        return self.opened(self._folder / "res")

    @staticmethod
    def opened(root: Path, disaster: Disaster | None = None) -> Library:
        return open_library(root, embedder=Hashed(), disk=Disk(before=disaster))


@pytest.fixture
def stage(case: Case, root: Path, prepared: Path) -> Stage:
    return Stage(root.parent, case, prepared)


def test_a_power_cut_at_any_step_leaves_all_of_it_or_nothing(stage: Stage) -> None:
    decided = 0
    for step in range(1, len(stage.steps) + 1):
        library = stage.fresh()
        stage.disaster.cut_power(step)
        with pytest.raises(PowerCut):
            stage.verb(library)
        abandon(library)

        with stage.again() as library:
            found = contents(library)
            holds(library)
        assert found in (stage.before, stage.after), f"cut before step {step}, {stage.steps[step - 1]}"
        assert decided in (0, found == stage.after), "once decided, it stays so at every later step"
        decided = found == stage.after
        with stage.again() as library:
            assert contents(library) == found, "recovering twice equals once"
            holds(library)
    assert decided or len(stage.steps) == 1


@pytest.mark.parametrize(
    ("number", "lasts"), [(errno.EACCES, False), (errno.ENOSPC, True)], ids=["once", "and all later ones"]
)
def test_a_disk_that_refuses_any_step_leaves_all_of_it_or_nothing(
    stage: Stage, number: int, lasts: bool
) -> None:
    for step in range(1, len(stage.steps) + 1):
        error = OSError(number, "the disk says no")
        library = stage.fresh()
        stage.disaster.fail(step, error, lasts=lasts)
        outcome = stage.verb(library)
        assert stage.disaster.has_struck
        if library.status().applying:
            _is_stuck_and_goes_on(stage, library, outcome, lasts=lasts)
        elif contents(library) == stage.after:
            assert not library.status().stuck
        else:
            _has_not_happened(stage, library, outcome, lasts=lasts)
        library.close()
        with stage.again() as library:
            found = contents(library)
            holds(library)
            assert not library.status().stuck
        assert _without_bystander(found) == stage.after, f"refused at step {step}, {stage.steps[step - 1]}"


def test_nothing_counts_before_it_is_on_the_disk(stage: Stage) -> None:
    """Staged files before the operation is decided, renamed ones before the catalog says so."""
    steps = stage.steps
    commits = [number for number, (name, _) in enumerate(steps) if name == "commit"]
    for number, (name, path) in enumerate(steps):
        until = next((commit for commit in commits if commit > number), len(steps))
        synced = {found for what, found in steps[number:until] if what == "fsync"}
        if name == "write":
            assert {path, path.parent, path.parent.parent} <= synced
        if name in ("rename", "mkdir"):
            assert path.parent in synced


def test_a_full_disk_lets_a_library_open_and_read_whatever_has_to_be_done_first(root: Path) -> None:
    """… a decided operation, staged files, changes by hand; all of it is done when there is room."""
    with Stage.opened(root) as library:
        library.add([coin(0), coin(1), coin(2)])
        kept = contents(library)
        sidecar = library.layout.sidecar("pending", address(2))
    disaster = Disaster()
    library = Stage.opened(root, disaster)
    disaster.cut_power(9)  # in the middle of the renames
    with pytest.raises(PowerCut):
        library.approve(PENDING)
    assert library.status().applying
    abandon(library)
    sidecar.write_text(sidecar.read_text().replace("Coin 2", "By Hand"))

    original, step = root.parent / "original", 0
    shutil.copytree(root, original)
    while True:
        step += 1
        disaster.fail(step, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
        with Stage.opened(root, disaster) as library:
            assert len(contents(library).records) == len(kept.records)
            if library.status().applying:
                assert "the disk says no" in library.status().stuck
            if library.get(address(2)).name != "By Hand":
                assert "the disk says no" in library.status().faults[0]
            if disaster.has_struck:
                assert not library.reject([address(2)]).done
            disaster.heal()
        with Stage.opened(root) as library:
            assert library.get(address(2)).name == "By Hand"
            assert library.counts()["approved"] == 2
            holds(library)
        if not disaster.has_struck:
            break
        shutil.rmtree(root)
        shutil.copytree(original, root)
    assert step > 5


def test_a_full_disk_before_there_is_a_library_leaves_the_way_free_for_one(root: Path) -> None:
    disaster = Disaster()
    disaster.fail(1, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
    with pytest.raises(NotWritten, match="is full; make room"):
        Stage.opened(root, disaster)
    with Stage.opened(root) as library:
        assert import_three(library).done


def test_a_draft_that_cannot_be_kept_is_told_so(on_a_full_disk: Library) -> None:
    with pytest.raises(NotWritten, match="the disk says no"):
        on_a_full_disk.drafts.save(BYSTANDER, {"entity": "half a"})
    assert on_a_full_disk.drafts.own(BYSTANDER) is None


@pytest.fixture
def on_a_full_disk(root: Path) -> Iterator[Library]:
    """A library whose disk has just become full."""
    disaster = Disaster()
    with Stage.opened(root, disaster) as library:
        disaster.fail(1, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
        yield library


def _is_stuck_and_goes_on(stage: Stage, library: Library, outcome: Outcome, *, lasts: bool) -> None:
    """Decided, and told as waiting: readers see what was before, writers wait, it goes on by itself."""
    assert {refusal.item for refusal in outcome.refused} >= set(library.status().applying)
    assert "is decided but waits" in outcome.refused[0].reason
    assert "the disk says no" in outcome.refused[0].reason
    assert "the disk says no" in library.status().stuck
    assert contents(library) == stage.before
    assert all(library.picture(known).exists() for known in library.addresses(Filter()))
    with Reader(library.layout.root, embedder=Hashed()) as reader:
        assert contents(reader) == stage.before
    if lasts:
        refused = library.edit_tags([BYSTANDER], add=["waits"])
        assert not refused.done
        assert "an earlier change comes first" in refused.refused[0].reason
        assert "the disk says no" in refused.refused[0].reason
        assert contents(library) == stage.before
    stage.disaster.heal()
    assert library.edit_tags([BYSTANDER], add=["goes on"]).done == [BYSTANDER]
    assert not library.status().stuck
    assert _without_bystander(contents(library)) == stage.after


def _has_not_happened(stage: Stage, library: Library, outcome: Outcome, *, lasts: bool) -> None:
    """Not decided: refused with the cause, nothing left behind, and it works once the disk does."""
    assert contents(library) == stage.before
    assert not outcome.done
    assert outcome.refused
    assert any("the disk says no" in refusal.reason for refusal in outcome.refused)
    if not lasts:
        nothing_lies_around(library)
    stage.disaster.heal()
    stage.verb(library)
    assert contents(library) == stage.after


def _without_bystander(found: Contents) -> Contents:
    """As if the tag that shows that writing goes on had never been set."""
    record = found.records[BYSTANDER]
    sidecar = {**record.sidecar, "tags": ["dog"], "tags_categories": ["animals"]}
    mine = sum(event[:2] == ("tag", BYSTANDER) for event in found.events)
    return replace(
        found,
        records={**found.records, BYSTANDER: replace(record, sidecar=sidecar)},
        events=found.events[mine:],
        decisions=found.decisions[mine:],
    )
