"""Random sequences of actions, including power cuts and full disks, compared with a plain dict."""

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from store.chroma.collections import INDEX
from store.chroma.follower import ChromaFollower
from store.disk.files import Disk
from store.library import Library
from store.runtime import open_library
from store.search.query import Part, Query
from tests.length import LENGTH, repeated
from tests.store.conftest import address, fresh_root
from tests.store.hashed import Hashed
from tests.store.invariants import Contents, StoredRecord, chroma_agrees_with_the_sidecars, contents, holds
from tests.store.model import Model
from tests.store.strategies import COINS, PEOPLE, TEXTS, Command, commands
from tests.store.world import FaultInjector, PowerCut, abandon

EXAMPLES = repeated(8, least=2)  # sequences of about 30 steps
STEPS = st.integers(1, 40)  # the longest verb takes about this many

pytestmark = pytest.mark.slow


class LibraryMachine(RuleBasedStateMachine):
    """One library on a real disk, with real SQLite and Chroma, and the dict it must equal."""

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None)).resolve()
        self.root = fresh_root(self.folder / "res")
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(ChromaFollower, "wake", lambda self: None)  # Chroma is updated explicitly, below
        self.patch.setitem(INDEX, "batch_size", 2)  # so that Chroma writes index files
        self.patch.setitem(INDEX, "sync_threshold", 2)
        self.embedder = Hashed()
        self.injector = FaultInjector()
        self.model = Model()
        self.library: Library | None = None

    @initialize(promoted=st.lists(st.sampled_from(COINS), unique=True).map(tuple))
    def begin(self, promoted: tuple[int, ...]) -> None:
        self.open()
        self.do(Command("import", "ann", promoted))
        self.do(Command("approve", "ann", promoted))
        for number in promoted:
            caption = (("entity", TEXTS[number % 3]), ("context", TEXTS[0]))
            self.do(Command("caption", "ann", (number,), caption))
        self.do(Command("promote", "ann", promoted))

    def open(self) -> None:
        self.library = open_library(self.root, embedder=self.embedder, disk=Disk(before=self.injector))

    # -- actions -------------------------------------------------------------------------------------------

    @rule(command=commands())
    def do(self, command: Command) -> None:
        done = command.apply_to_library(self.library)
        expected = command.apply_to_model(self.model)
        assert done is expected is None or sorted(done or ()) == sorted(expected or ())

    @rule(command=commands(), step=STEPS, again=STEPS)
    def cut_power(self, command: Command, step: int, again: int) -> None:
        """Cut the power during a verb, and again during the recovery on opening."""
        self.injector.cut_power(step)
        try:
            command.apply_to_library(self.library)
        except PowerCut:
            note(f"cut before {self.injector.steps[-1]}")
        abandon(self.library)
        self.injector.cut_power(again)
        try:
            self.open()
        except PowerCut:
            note(f"cut again before {self.injector.steps[-1]}")
            self.injector.stop_failing()
            self.open()
        self.injector.stop_failing()
        self.is_before_or_after(command)

    @rule(command=commands(), step=STEPS, lasts=st.booleans())
    def refuse(self, command: Command, step: int, lasts: bool) -> None:
        """Fill the disk during a verb; there is space again before the next one."""
        self.injector.fail(step, OSError(errno.ENOSPC, "no room"), lasts=lasts)
        command.apply_to_library(self.library)
        self.injector.stop_failing()
        was_stuck = bool(self.library.status().applying)
        self.reopen()
        assert not self.library.status().applying
        self.is_before_or_after(command)
        if was_stuck:
            assert self.says(self.model), "once decided, it goes forward"

    @rule()
    def reopen(self) -> None:
        self.library.close()
        self.open()

    @rule(number=st.sampled_from(COINS), text=st.sampled_from(TEXTS), actor=st.sampled_from(PEOPLE))
    def type_a_draft(self, number: int, text: str, actor: str) -> None:
        self.library.drafts.save(address(number), {"entity": text}, actor=actor)
        self.model.drafts[address(number), actor] = {"entity": text}

    @rule(text=st.sampled_from(TEXTS[:3]))
    def search(self, text: str) -> None:
        results = self.library.search(Query((Part(text=text),), weights={"entity": 1.0}))
        library = {key: record for key, record in self.model.records.items() if record.tier == "library"}
        assert {hit.address for hit in results.hits} == library.keys()
        saying = {key for key, record in library.items() if record.sidecar["caption"]["entity"] == text}
        assert {hit.address for hit in results.hits[: len(saying)]} == saying
        assert all(abs(hit.score - 1) < 1e-5 for hit in results.hits[: len(saying)])

    @precondition(lambda self: self.library and self.library.status().chroma_behind)
    @rule()
    def let_chroma_follow(self) -> None:
        self.library._follower._follow()
        assert self.library.status().chroma_behind == 0

    # -- invariants ----------------------------------------------------------------------------------------

    @invariant()
    def library_equals_model(self) -> None:
        if self.library:
            found, expected = contents(self.library), expectation(self.model, contents(self.library))
            assert found.records == expected.records
            assert found == expected
            holds(self.library)

    def teardown(self) -> None:
        try:
            if self.library:
                self.library._follower._follow()
                self.library.close()
                chroma_agrees_with_the_sidecars(self.root, self.embedder)
        finally:
            self.patch.undo()
            shutil.rmtree(self.folder)

    # -- helpers -------------------------------------------------------------------------------------------

    def is_before_or_after(self, command: Command) -> None:
        """Check that the library equals the model before or after the verb, and keep that model."""
        after = self.model.copy()
        command.apply_to_model(after)
        if self.says(after):
            self.model = after
        assert self.says(self.model), "half of it happened"

    def says(self, model: Model) -> bool:
        found = contents(self.library)
        return found == expectation(model, found)


def expectation(model: Model, found: Contents) -> Contents:
    """The contents that the library must have; Chroma's queue has its own checks."""
    records = {
        key: StoredRecord(
            record.tier,
            record.came_from,
            record.sidecar,
            record.image_hash,
            frozenset(_embedded(record.sidecar) if record.tier == "library" else ()),
            {actor: fields for (of, actor), fields in model.drafts.items() if of == key},
        )
        for key, record in model.records.items()
    }
    events = [
        (made.verb, key, before.tier if before else None, after.tier, "", made.is_undone)
        for made in model.decisions
        for key, before, after in made.changes
    ]
    decisions = [(made.verb, made.actor, len(made.changes), made.is_undone) for made in model.decisions]
    assert all(actor in PEOPLE for _, actor, _, _ in decisions)
    in_order = sorted(events, key=repr) == sorted(found.events, key=repr)
    return Contents(records, found.events if in_order else events[::-1], decisions[::-1], found.waiting)


def _embedded(sidecar: dict[str, Any]) -> set[str]:
    return {"image", *(facet for facet, text in sidecar["caption"].items() if text.strip())}


TestLibraryMachine = LibraryMachine.TestCase
TestLibraryMachine.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    derandomize=LENGTH <= 1,
    suppress_health_check=list(HealthCheck),
)
