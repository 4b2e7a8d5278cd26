"""From a press to its answer, whatever happens between: each press takes effect once or is told as not done.

Messages are lost, doubled and delayed, logins end, the server stops or is killed at any step, two tabs share
the browser's storage, and another person decides in between.
"""

import random
import shutil
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from starlette.responses import Response

from components.grid import decisions
from components.grid.decisions import Log, start_promotion
from components.shell.page import forms, undo
from components.shell.page.forms import Button, Press, _Form
from components.shell.server.messages import Sender
from store.catalog.filters import Filter
from store.chroma.follower import ChromaFollower
from store.disk.files import Disk
from store.errors import LoginEnded
from store.jobs.jobs import Runner
from store.library import Library
from store.permissions import Actor
from store.progress import Progress
from store.records import Record
from store.runtime import open_library
from store.tasks.undo import redoable, undoable
from store.writing import transitions
from tests.browser.conftest import dashboard
from tests.components.grid.decisions import Answer, Entry, entry
from tests.length import LENGTH, repeated
from tests.ports import free_port
from tests.store.conftest import address, approved_with_caption, coin, fresh_root
from tests.store.hashed import Hashed
from tests.store.world import FaultInjector, PowerCut, abandon

pytestmark = pytest.mark.slow

COINS = range(6)  # the last two of them approved, with captions
AT_ONCE, OPERATION = 3, 2  # coins that a page waits for, and those of one operation
QUEUE = "library"  # of its jobs
STEPS = st.none() | st.integers(1, 4) | st.integers(1, 40)  # at which the server is killed
EDITS = ("add", "remove")
KILLS = repeated(10)
TOGETHER = 20  # coins about which decisions arrive until the server is killed
STRIDE = 1 if LENGTH >= 1 else 3  # of the steps at which the server is killed

some_coins = st.sampled_from([[0], [0, 1], [1, 2], [0, 1, 2], [0, 1, 2, 3], [3, 4], [4, 5]])
moves = st.sampled_from(["approve", "reject", "return", "promote"])
judged, flagged = st.sampled_from(["different", "copy of"]), st.sampled_from(["fit", "unfit"])
changes = st.one_of(
    st.builds(lambda verb, coins: entry(verb, *coins), moves, some_coins),
    st.builds(
        lambda coins, edit: entry("tag", *coins, **{edit: ["moon"]}), some_coins, st.sampled_from(EDITS)
    ),
    st.builds(lambda coins, reason: entry("flag", *coins, reason=reason), some_coins, flagged),
    st.builds(lambda reason: entry("judge", 0, others=[address(1)], reason=reason), judged),
)


@pytest.fixture(autouse=True, scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A library with the coins, which each run copies."""
    DeliveryMachine.prepared = fresh_root(tmp_path_factory.mktemp("delivery") / "res")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with open_library(DeliveryMachine.prepared, embedder=Hashed()) as library:
            library.add(coin(number) for number in COINS)
            approved_with_caption(library, *COINS[-2:])


@dataclass
class Tab:
    """A page of one browser: a log as in `components/grid/js/log.js`, and forms as in `sending.js`."""

    storage: dict[str, list[Entry]]  # of all tabs
    key: str
    entries: list[Entry] = field(default_factory=list)
    left: list[Entry] = field(default_factory=list)  # of pages before, or of the other tab
    request: Press | None = None  # of a form, until it is answered
    forms: dict[str, Any] = field(default_factory=dict)  # that the server keeps for the session

    def add(self, made: Entry) -> None:
        self.entries.append(made)
        self.storage[self.key] = [*self.entries]

    def message(self) -> list[Entry]:
        return [*self.left, *self.entries]

    def hear(self, answers: dict[str, Answer]) -> None:
        self.entries = [one for one in self.entries if one["id"] not in answers]
        self.left = [one for one in self.left if one["id"] not in answers]
        self.storage[self.key] = [*self.entries]
        for key in self.storage:
            self.storage[key] = [one for one in self.storage[key] if one["id"] not in answers]

    def reload(self, key: str) -> None:
        """The page is loaded again: what was not answered lies in the storage."""
        self.key, self.entries = key, []
        self.left = [one for entries in self.storage.values() for one in entries]


@dataclass(frozen=True)
class Message:
    tab: Tab
    session: str
    sent: list[Entry] | Press


@dataclass
class Told:
    """What the server answered first, and what the press had changed by then; None: a job goes on with it."""

    refused: dict[str, str]
    changed: set[str] | None


class DeliveryMachine(RuleBasedStateMachine):
    """Ann's two tabs, the messages under way, and a server on a real folder."""

    prepared: Path  # a library with the coins

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=self.prepared.parent)) / "res"
        shutil.copytree(self.prepared, self.root)
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(ChromaFollower, "wake", lambda self: None)
        self.patch.setattr(Runner, "wake", lambda self: None)  # jobs are worked on explicitly, below
        self.patch.setattr(decisions, "AT_ONCE", AT_ONCE)
        self.patch.setattr(undo, "AT_ONCE", AT_ONCE)
        self.patch.setattr(transitions, "OPERATION", OPERATION)
        self.patch.setattr(transitions, "EMBEDDED", OPERATION)
        self.injector = FaultInjector()
        decide = decisions.decide

        def checked(library: Library, made: Entry, *, sender: Sender) -> Answer:
            answer = decide(library, made, sender=sender)
            self.hear(made["id"], {one["item"]: one["reason"] for one in answer["refused"]}, made)
            return answer

        self.patch.setattr(decisions, "decide", checked)
        self.open()
        self.questions: int | None = None  # until Ann's login ends; None: it lasts
        storage: dict[str, list[Entry]] = {}
        self.tabs = [Tab(storage, f"{number}") for number in range(2)]
        self.wire: list[Message] = []
        self.pressed: dict[str, str | None] = {}  # all ids, and what their undo names
        self.told: dict[str, Told] = {}

    # -- the server ----------------------------------------------------------------------------------------

    def open(self) -> None:
        self.library = open_library(self.root, embedder=Hashed(), disk=Disk(before=self.injector))
        self.library.jobs.resume_interrupted()

    @property
    def ann(self) -> Library:
        return self.library.for_actor(Actor("ann", is_logged_in=self.is_logged_in))

    def is_logged_in(self) -> bool:
        if self.questions is not None:
            self.questions -= 1
        return self.questions is None or self.questions >= 0

    @rule(is_killed=st.booleans())
    def restart(self, is_killed: bool) -> None:
        abandon(self.library) if is_killed else self.library.close()
        self.injector.stop_failing()
        forms._forms.clear()
        for tab in self.tabs:
            tab.forms.clear()
        self.open()

    @rule(lasts=st.none() | st.integers(0, 12))
    def log_in(self, lasts: int | None) -> None:
        """Until so many questions are asked; None: it lasts."""
        self.questions = lasts

    @rule(step=STEPS)
    def work(self, step: int | None) -> None:
        """Let the jobs go on, perhaps until the server is killed."""
        with self.killed_at(step):
            self.library.jobs._runner._run(QUEUE, Progress())  # type: ignore[union-attr]

    @contextmanager
    def killed_at(self, step: int | None) -> Iterator[None]:
        if step:
            self.injector.cut_power(step)
        try:
            yield
        except PowerCut:
            self.restart(is_killed=True)
        self.injector.stop_failing()

    @rule(
        verb=st.sampled_from(["approve", "reject", "send_back", "restore", "undo", *EDITS]), coins=some_coins
    )
    def ben_decides(self, verb: str, coins: list[int]) -> None:
        ben, keys = self.library.for_actor(Actor("ben")), [address(number) for number in coins]
        if verb == "undo":
            ben.undo_decisions([self.library.decisions(limit=1)[0].id])
        elif verb in EDITS:
            ben.edit_tags(keys, **{verb: ["moon"]})
        else:
            getattr(ben, verb)(keys)

    # -- the browser ---------------------------------------------------------------------------------------

    @rule(tab=st.integers(0, 1), made=changes, saw=st.booleans())
    def press(self, tab: int, made: Entry, saw: bool) -> None:
        if saw:
            made["seen"] = {each: self.library.get(each).revision for each in made["addresses"]}
        self.add(self.tabs[tab], made)

    @rule(tab=st.integers(0, 1), verb=st.sampled_from(["undo", "redo"]))
    def press_undo(self, tab: int, verb: str) -> None:
        own = [one["id"] for one in self.tabs[tab].entries if one["verb"] != "undo"] if verb == "undo" else []
        list_ = undoable if verb == "undo" else redoable
        if found := [*own[::-1], *list_(self.library.for_actor(Actor("ann")), limit=1)]:
            self.add(self.tabs[tab], entry(verb, undoes=found[0]))

    def add(self, tab: Tab, made: Entry) -> None:
        self.pressed[made["id"]] = made.get("undoes")
        tab.add(made)
        self.wire.append(Message(tab, tab.key, tab.message()))

    @rule(tab=st.integers(0, 1))
    def run_page(self, tab: int) -> None:
        """A run of the page registers its forms with what it shows."""
        page, ready = self.tabs[tab], [address(number) for number in COINS[-2:]]

        def show(key: str, send: forms.Send) -> None:
            made = _Form((), Button(key), send, changes_library=True)
            page.forms[key] = forms._forms[page.key, key] = made

        with suppress(LoginEnded):
            for last in undo.last_decision(self.ann):
                show("undo", last.send)
        promote = partial(start_promotion, self.ann, ready)
        show("promote", lambda sent: promote(decision=sent.decision).name)

    @rule(tab=st.integers(0, 1), form=st.sampled_from(["undo", "promote"]))
    def press_form(self, tab: int, form: str) -> None:
        page = self.tabs[tab]
        shown = page.forms.get(form)
        if page.request or not shown or shown.button.disabled:
            return
        page.request = Press(form, uuid4().hex, {})
        self.pressed[page.request.decision] = None
        self.wire.append(Message(page, page.key, page.request))

    @rule(tab=st.integers(0, 1))
    def reload(self, tab: int) -> None:
        self.tabs[tab].reload(uuid4().hex)

    @rule(tab=st.integers(0, 1))
    def send_again(self, tab: int) -> None:
        """What the page has no answer to."""
        page = self.tabs[tab]
        self.wire += [Message(page, page.key, sent) for sent in (page.message(), page.request) if sent]

    @precondition(lambda self: self.wire)
    @rule(which=st.integers(0, 20), comes_again=st.booleans(), is_lost=st.booleans(), step=STEPS)
    def deliver(self, which: int, comes_again: bool, is_lost: bool, step: int | None) -> None:
        """Let one of the messages arrive; its answer may be lost, as when the server is killed."""
        message = self.wire[which % len(self.wire)]
        if not comes_again:
            self.wire.remove(message)
        with self.killed_at(step):
            self.arrive(message, is_lost=is_lost)

    @precondition(lambda self: self.wire)
    @rule(which=st.integers(0, 20))
    def lose(self, which: int) -> None:
        self.wire.pop(which % len(self.wire))

    def arrive(self, message: Message, *, is_lost: bool = False) -> None:
        tab, sent, ann = message.tab, message.sent, self.ann
        with suppress(LoginEnded):
            if isinstance(sent, Press):
                answer = forms.answer(ann, sent, Sender(message.session))
                if isinstance(answer, Response) and answer.status_code == 404:
                    return  # the page is run, and sends it again
                text = bytes(answer.body).decode() if isinstance(answer, Response) else ""
                self.hear(sent.decision, {"": text} if text else {})
                if not is_lost and tab.request == sent:
                    tab.request = None
            else:
                answer = decisions.answer(ann, Log(ann.id, "ann", sent), Sender(message.session))
                if not is_lost:
                    tab.hear(answer["answers"])  # type: ignore[index]

    # -- what is true --------------------------------------------------------------------------------------

    def hear(self, id: str, refused: dict[str, str], made: Entry | None = None) -> None:
        """Check an answer, whether or not it is lost on its way."""
        if id in self.told:
            assert self.told[id].refused == refused, "another answer"
            return
        job = self.library.jobs.of_decision(id)
        changed = {event.address for event in self.library.history(decision=id, limit=-1)}
        self.told[id] = Told(refused, changed if job is None else None)
        verb = made["verb"] if made else ""
        if named := self.pressed[id]:
            if not refused and job is None:
                self.took_back(named, id)
        elif made and verb == "judge" and not refused:
            judged = self.library.duplicates.judgements(address(0))
            assert any(one.decision == id for one in judged) or judged[0].verdict == made["reason"]
        elif made and "" not in refused:
            items = {item.key for item in self.library.jobs.items(job.id)} if job else set()
            for missing in {*made["addresses"]} - refused.keys() - changed - items:
                assert says(self.library.get(missing), made), f"{verb} is told as done and is not"

    def took_back(self, named: str, id: str) -> None:
        past = self.library.decision(named)
        if past is None:
            assert self.library.jobs.of_decision(named).state == "cancelled"  # type: ignore[union-attr]
        else:
            own = self.library.decision(id)
            assert past.is_undone or (own and own.is_undone), "an undo is told as done and is not"

    @invariant()
    def each_is_done_once_or_told_as_not_done(self) -> None:
        made = Counter((event.decision, event.address) for event in self.library.history(limit=-1))
        assert max(made.values()) == 1, "a decision changed a coin twice"
        by_id: dict[str, set[str]] = defaultdict(set)
        for id, item in made:
            by_id[id].add(item)
        for id, told in self.told.items():
            assert not by_id[id] & told.refused.keys(), "refused, and done"
            assert not by_id[id] or "" not in told.refused, "refused, and done"
            assert told.changed in (None, by_id[id]), "it took effect after its answer"
        for id, named in self.pressed.items():
            past = self.library.decision(id) if named else None
            assert not past or not past.reverses or self.first(past.reverses) == self.first(named)

    def first(self, id: str | None) -> str | None:
        """The decision that a chain of undos and redos began with."""
        while id and (past := self.library.decision(id)) and past.reverses:
            id = past.reverses
        return id

    def teardown(self) -> None:
        try:
            self.end()
        finally:
            self.close()

    def close(self) -> None:
        self.library.close()
        forms._forms.clear()
        self.patch.undo()
        shutil.rmtree(self.root.parent)

    def end(self) -> None:
        """Everything is answered once Ann is back, and what comes later still changes nothing."""
        self.log_in(None)
        for number, tab in enumerate(self.tabs):
            for _ in range(2):
                self.run_page(number)
                if tab.request:
                    self.arrive(Message(tab, tab.key, tab.request))
            self.reload(number)
            self.arrive(Message(tab, tab.key, tab.message()))
            assert not tab.message()
            assert not tab.request
        assert not any(self.tabs[0].storage.values())
        assert self.told.keys() == self.pressed.keys()
        self.work(None)
        self.each_is_done_once_or_told_as_not_done()
        generation = self.library.generation
        for message in reversed(self.wire):
            self.arrive(message)
        self.work(None)
        assert self.library.generation == generation


def says(record: Record, made: Entry) -> bool:
    """Whether a coin was already as this press wants it."""
    if made["verb"] == "flag":
        return record.sidecar.get("unfit") is (made["reason"] == "unfit")
    tags = {*record.tags}
    return made["verb"] == "tag" and tags >= {*made.get("add", ())} and not tags & {*made.get("remove", ())}


TestDelivery = DeliveryMachine.TestCase
TestDelivery.settings = settings(
    max_examples=repeated(100, least=2),
    stateful_step_count=40,
    deadline=None,
    derandomize=LENGTH <= 1,
    suppress_health_check=list(HealthCheck),
)


# -- killed at every step of one press ---------------------------------------------------------------------

APPROVES, REJECTS = entry("approve", 0, 1, 2), entry("reject", 0, 1, 2, 3)
TAKES_BACK, JUDGES = (
    entry("undo", undoes=APPROVES["id"]),
    entry("judge", 0, others=[address(1)], reason="copy of"),
)
CASES = {  # presses, the last of which is looked at, and how many coins it changes
    "a move": ([APPROVES], 3),
    "flags": ([entry("flag", *COINS, reason="unfit")], 6),
    "tags": ([entry("tag", 0, 1, 2, add=["moon"])], 3),
    "a verdict": ([JUDGES], 0),
    "an undo": ([APPROVES, TAKES_BACK], 3),
    "a redo": ([APPROVES, TAKES_BACK, entry("redo", undoes=TAKES_BACK["id"])], 3),
    "an undo of a verdict": ([JUDGES, entry("undo", undoes=JUDGES["id"])], 0),
    "a move in the background": ([REJECTS], 4),
    "tags in the background": ([entry("tag", 0, 1, 2, 3, add=["moon"])], 4),
    "an undo in the background": ([REJECTS, entry("undo", undoes=REJECTS["id"])], 4),
    "a promotion": ([entry("promote", *COINS[-2:])], 2),
    "an undo by a button": ([APPROVES, Press("undo", uuid4().hex, {})], 3),
    "a promotion by a button": ([Press("promote", uuid4().hex, {})], 2),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_press_whose_server_is_killed_at_any_step_is_done_once(case: str) -> None:
    presses, coins = CASES[case]
    for step in count(1, STRIDE):
        machine = DeliveryMachine()
        try:
            for press in presses[:-1]:
                press_and_work(machine, press)
            with machine.killed_at(step):
                press_and_work(machine, presses[-1])
            was_killed = machine.injector.has_failed
            machine.work(None)  # the next server goes on with jobs before a page asks
            for _ in range(2):
                id = press_and_work(machine, presses[-1])
                machine.each_is_done_once_or_told_as_not_done()
                assert machine.told[id].refused == {}
                assert len(machine.library.history(decision=id)) == coins
                assert machine.library.decision(id)
        finally:
            machine.close()
        if not was_killed:
            assert step > STRIDE
            return


def press_and_work(machine: DeliveryMachine, press: Entry | Press) -> str:
    """Send it from a page that was just run, and carry out its job; returns its id."""
    id, named = (press.decision, None) if isinstance(press, Press) else (press["id"], press.get("undoes"))
    machine.pressed[id] = named
    machine.run_page(0)
    tab = machine.tabs[0]
    machine.arrive(Message(tab, tab.key, press if isinstance(press, Press) else [press]))
    machine.library.jobs._runner._run(QUEUE, Progress())  # type: ignore[union-attr]
    return id


# -- a real server, killed while decisions arrive ----------------------------------------------------------


@pytest.mark.kills
def test_what_a_killed_server_did_not_answer_is_done_once_by_the_next(tmp_path: Path) -> None:
    chance, root, port = random.Random(7), fresh_root(tmp_path / "res"), free_port()
    with open_library(root, embedder=Hashed()) as library:
        library.add(coin(number) for number in range(KILLS * TOGETHER))
    pressed: list[Entry] = []
    answers: dict[str, Answer] = {}
    cut_short = 0
    for kill in range(KILLS):
        for number in range(kill * TOGETHER, (kill + 1) * TOGETHER):
            approves = entry("approve", number)
            pressed += [entry("tag", number, add=["moon"]), approves]
            pressed += [entry("undo", undoes=approves["id"])] * (number % 2)
        with dashboard(root, port=port) as server:
            killer = threading.Timer(chance.uniform(0, 0.02), server.kill)
            messages = chance.randrange(1, 9)
            with suppress(OSError, HTTPException):
                while left := [one for one in pressed if one["id"] not in answers]:
                    answers |= server.post(left[: chance.randrange(1, 6)])
                    messages -= 1
                    if not messages:
                        killer.start()
            killer.join()
            cut_short += bool(left)
    assert cut_short, "it was killed while it worked"
    with dashboard(root, port=port) as server:
        answers |= server.post([one for one in pressed if one["id"] not in answers])
        again = server.post(pressed)
        assert {id: answer["refused"] for id, answer in again.items()} == {one["id"]: [] for one in pressed}
        assert all(answer["refused"] == [] for answer in answers.values())
        with server.stored() as library:
            made = Counter((event.decision, event.address) for event in library.history(limit=-1))
            assert max(made.values()) == 1
            decided = Counter(event.decision for event in library.history(limit=-1))
            assert all(decided[one["id"]] == 1 for one in pressed)
            assert library.counts()["approved"] == KILLS * TOGETHER // 2
            assert library.tag_counts(Filter())["moon"] == KILLS * TOGETHER
