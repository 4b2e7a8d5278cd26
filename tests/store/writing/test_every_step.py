"""A power cut or disk error at any step of any verb leaves the library in the state before or after it."""

import errno
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.chroma.follower import ChromaFollower
from store.disk.files import Disk
from store.errors import NotWritten
from store.library import Library
from store.outcome import Outcome
from store.reading.reader import Reader
from store.runtime import open_library
from tests.length import LENGTH
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.invariants import Contents, contents, holds, no_temporary_files_are_left
from tests.store.world import FaultInjector, PowerCut, abandon
from tests.store.writing.cases import CASES, PENDING, Case, import_three

BYSTANDER = address(20)  # changed only to check whether writing works
# 8 cuts the power at every eighth step up to the last, and lets others fail, once or from then on; 1 lets all
# steps do all of this. The verbs have different numbers of steps, so that each kind of step is among them.
STRIDE = 1 if LENGTH >= 1 else 8


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_chroma")]


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


class Scenario:
    """Provides fresh copies of the library in its state before the verb."""

    def __init__(self, folder: Path, case: Case, prepared: Path) -> None:
        self.verb, self.erases = case.verb, case.erases
        self.injector = FaultInjector()
        self._folder = folder
        self._original = folder / "original"
        shutil.copytree(prepared, self._original)
        with self.opened(self._original) as library:
            case.before(library)
            self.before = contents(library)
        self._number = 0
        with self.fresh() as library:
            self.injector.cut_power(10**6)
            case.verb(library)
            self.steps = [*self.injector.steps]
            self.after = contents(library)
            holds(library)

    def fresh(self) -> Library:
        """Open a new copy of the library before the verb, on a disk that can fail."""
        shutil.rmtree(self._folder / "res", ignore_errors=True)
        shutil.copytree(self._original, self._folder / "res")
        self.injector = FaultInjector()
        return self.opened(self._folder / "res", self.injector)

    def open_again(self) -> Library:
        """Open the library of the last `fresh` once more."""
        return self.opened(self._folder / "res")

    @staticmethod
    def opened(root: Path, injector: FaultInjector | None = None) -> Library:
        return open_library(root, embedder=Hashed(), disk=Disk(before=injector))


@pytest.fixture(scope="module")
def scenario(case: Case, tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Scenario:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        return Scenario(tmp_path_factory.mktemp("scenario"), case, prepared)


def test_a_power_cut_at_any_step_leaves_the_state_before_or_after(scenario: Scenario) -> None:
    decided = 0
    for step in range(1 + (len(scenario.steps) - 1) % STRIDE, len(scenario.steps) + 1, STRIDE):
        library = scenario.fresh()
        scenario.injector.cut_power(step)
        with pytest.raises(PowerCut):
            scenario.verb(library)
        abandon(library)

        with scenario.open_again() as library:
            found = contents(library)
            holds(library)
        assert found in (scenario.before, scenario.after), (
            f"cut before step {step}, {scenario.steps[step - 1]}"
        )
        assert decided in (0, found == scenario.after), "once decided, it stays so at every later step"
        decided = found == scenario.after
        with scenario.open_again() as library:
            assert contents(library) == found, "recovering twice equals once"
            holds(library)
    assert decided or len(scenario.steps) == 1


@pytest.mark.parametrize(
    ("number", "lasts"), [(errno.EACCES, False), (errno.ENOSPC, True)], ids=["once", "and all later ones"]
)
def test_a_disk_error_at_any_step_leaves_the_state_before_or_after(
    scenario: Scenario, number: int, lasts: bool
) -> None:
    for step in range(1 + lasts % STRIDE, len(scenario.steps) + 1, STRIDE):
        error = OSError(number, "the disk says no")
        library = scenario.fresh()
        scenario.injector.fail(step, error, lasts=lasts)
        outcome = scenario.verb(library)
        assert scenario.injector.has_failed
        if library.status().applying:
            _check_stuck_and_recovers(scenario, library, outcome, lasts=lasts)
        elif contents(library) == scenario.after:
            assert not library.status().stuck
        else:
            _check_not_applied(scenario, library, outcome, lasts=lasts)
        library.close()
        with scenario.open_again() as library:
            found = contents(library)
            holds(library)
            assert not library.status().stuck
        assert _without_bystander(found) == scenario.after, (
            f"refused at step {step}, {scenario.steps[step - 1]}"
        )


def test_files_are_synced_before_the_step_that_depends_on_them(scenario: Scenario) -> None:
    """Staged files before the operation is committed, and renames before the catalog records them."""
    steps = scenario.steps
    commits = [number for number, (name, _) in enumerate(steps) if name == "commit"]
    for number, (name, path) in enumerate(steps):
        until = next((commit for commit in commits if commit > number), len(steps))
        synced = {found for what, found in steps[number:until] if what == "fsync"}
        if name == "write":
            assert {path, path.parent, path.parent.parent} <= synced
        if name in ("rename", "mkdir"):
            assert path.parent in synced


def test_a_library_with_pending_work_opens_and_reads_on_a_full_disk(root: Path) -> None:
    """Committed operations, staged files and manual edits are all applied once there is space."""
    with Scenario.opened(root) as library:
        library.add([coin(0), coin(1), coin(2)])
        kept = contents(library)
        sidecar = library.layout.sidecar("pending", address(2))
    injector = FaultInjector()
    library = Scenario.opened(root, injector)
    injector.cut_power(9)  # in the middle of the renames
    with pytest.raises(PowerCut):
        library.approve(PENDING)
    assert library.status().applying
    abandon(library)
    sidecar.write_text(sidecar.read_text().replace("Coin 2", "By Hand"))

    original, step = root.parent / "original", 0
    shutil.copytree(root, original)
    while True:
        step += 1
        injector.fail(step, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
        with Scenario.opened(root, injector) as library:
            assert len(contents(library).records) == len(kept.records)
            if library.status().applying:
                assert "the disk says no" in library.status().stuck
            if library.get(address(2)).name != "By Hand":
                assert "the disk says no" in library.status().faults[0]
            if injector.has_failed:
                assert not library.reject([address(2)]).done
            injector.stop_failing()
        with Scenario.opened(root) as library:
            assert library.get(address(2)).name == "By Hand"
            assert library.counts()["approved"] == 2
            holds(library)
        if not injector.has_failed:
            break
        shutil.rmtree(root)
        shutil.copytree(original, root)
    assert step > 5


def test_creating_a_library_on_a_full_disk_can_be_retried(root: Path) -> None:
    injector = FaultInjector()
    injector.fail(1, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
    with pytest.raises(NotWritten, match="is full; make room"):
        Scenario.opened(root, injector)
    with Scenario.opened(root) as library:
        assert import_three(library).done


def test_a_draft_that_cannot_be_saved_raises_an_error(on_a_full_disk: Library) -> None:
    with pytest.raises(NotWritten, match="the disk says no"):
        on_a_full_disk.drafts.save(BYSTANDER, {"entity": "half a"})
    assert on_a_full_disk.drafts.own(BYSTANDER) is None


@pytest.fixture
def on_a_full_disk(root: Path) -> Iterator[Library]:
    """An open library whose disk has just become full."""
    injector = FaultInjector()
    with Scenario.opened(root, injector) as library:
        injector.fail(1, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
        yield library


def _check_stuck_and_recovers(scenario: Scenario, library: Library, outcome: Outcome, *, lasts: bool) -> None:
    """Check a committed operation that waits: readers see the state before, writers wait, and it recovers."""
    assert {refusal.item for refusal in outcome.refused} >= set(library.status().applying)
    assert "is decided but waits" in outcome.refused[0].reason
    assert "the disk says no" in outcome.refused[0].reason
    assert "the disk says no" in library.status().stuck
    assert contents(library) == scenario.before
    going = library.status().applying if scenario.erases else ()
    assert all(library.picture(one).exists() for one in library.addresses(Filter()) if one not in going)
    with Reader(library.layout.root, embedder=Hashed()) as reader:
        assert contents(reader) == scenario.before
    if lasts:
        refused = library.edit_tags([BYSTANDER], add=["waits"])
        assert not refused.done
        assert "an earlier change comes first" in refused.refused[0].reason
        assert "the disk says no" in refused.refused[0].reason
        assert contents(library) == scenario.before
    scenario.injector.stop_failing()
    assert library.edit_tags([BYSTANDER], add=["goes on"]).done == [BYSTANDER]
    assert not library.status().stuck
    assert _without_bystander(contents(library)) == scenario.after


def _check_not_applied(scenario: Scenario, library: Library, outcome: Outcome, *, lasts: bool) -> None:
    """Check an uncommitted operation: refused with the cause, no leftovers, and it can be repeated."""
    assert contents(library) == scenario.before
    assert not outcome.done
    assert outcome.refused
    assert any("the disk says no" in refusal.reason for refusal in outcome.refused)
    if not lasts:
        no_temporary_files_are_left(library)
    scenario.injector.stop_failing()
    scenario.verb(library)
    assert contents(library) == scenario.after


def _without_bystander(found: Contents) -> Contents:
    """The contents without the tag that was set to check whether writing works."""
    record = found.records[BYSTANDER]
    sidecar = {**record.sidecar, "tags": ["dog"], "tags_categories": ["animals"]}
    mine = sum(event[:2] == ("tag", BYSTANDER) for event in found.events)
    return replace(
        found,
        records={**found.records, BYSTANDER: replace(record, sidecar=sidecar)},
        events=found.events[mine:],
        decisions=found.decisions[mine:],
    )
