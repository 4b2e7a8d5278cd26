"""Logins that end in one process and are known in all, and the shared password."""

import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from store.errors import ForeignFile, InvalidRecord, LoginEnded, NotPermitted, UnknownSession
from store.permissions import Actor
from store.sessions import LONGEST_WAIT, LoginSession, LoginSessions, Tries, hash_password, matches_hash
from store.settings import settings

ANN = LoginSession("a" * 32, "ann@x.org", "default", "10.0.0.1", "Firefox", began=100.0, seen=200.0)


@pytest.mark.slow
@pytest.mark.usefixtures("costly_passwords")
def test_a_password_is_recognised_and_stored_by_argon2id_with_its_own_salt() -> None:
    first, second = hash_password("correct horse"), hash_password("correct horse")
    assert first.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert first != second
    assert matches_hash(first, "correct horse")
    for wrong in ("correct hors", "correct horse ", "Correct horse", "", "x" * 10_000_000):
        assert not matches_hash(first, wrong)
    for damaged in ("", "$argon2id$", first[:-4], "plain"):
        assert not matches_hash(damaged, "correct horse")


@pytest.mark.slow
@pytest.mark.usefixtures("costly_passwords")
def test_how_near_a_wrong_password_is_does_not_show_in_the_time() -> None:
    stored = hash_password("correct horse")

    def seconds(tried: str) -> float:
        took = []
        for _ in range(5):
            began = time.perf_counter()
            matches_hash(stored, tried)
            took.append(time.perf_counter() - began)
        return min(took)

    near, far = seconds("correct hors_"), seconds("x")
    assert 0.3 < near / far < 3


def taken(tries: Tries, now: list[float], *, seconds: float, addresses: int = 1, **how: bool) -> int:
    """How many tries have their turn within so many seconds, if each address tries as soon as it may."""
    count, end, due = 0, now[0] + seconds, [now[0]] * addresses
    while min(due) < end:
        number = due.index(min(due))
        now[0] = due[number]
        wait = tries.turn(str(number), **how)
        count += wait <= LONGEST_WAIT
        due[number] = now[0] + max(wait, 0.001)
    return count


def test_five_wrong_passwords_cost_nothing_and_each_further_one_twice_as_much() -> None:
    now = [0.0]
    tries = Tries(clock=lambda: now[0])
    assert [tries.turn("a") for _ in range(5)] == [0.0] * 5
    waits = []
    for _ in range(6):
        waits.append(tries.turn("a"))
        now[0] += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0, 12.0, 12.0]
    assert tries.turn("b") == 0.0, "somebody else"
    now[0] += 3_600.0
    assert tries.turn("a") == 0.0


def test_guessing_gets_7_200_tries_a_day_from_one_address_and_86_400_from_all() -> None:
    now = [0.0]
    assert taken(Tries(clock=lambda: now[0]), now, seconds=86_400.0) <= 7_220
    now = [0.0]
    assert taken(Tries(clock=lambda: now[0]), now, seconds=600.0, addresses=100) <= 600 + 61 + 31


def test_a_try_that_would_wait_too_long_is_not_counted() -> None:
    now = [0.0]
    tries = Tries(clock=lambda: now[0])
    waits = [tries.turn("a") for _ in range(100)]
    assert max(wait for wait in waits if wait <= LONGEST_WAIT) == 27.0
    now[0] = 40.0
    assert tries.turn("a") == 0.0


def test_a_browser_from_which_somebody_logged_in_does_not_wait_for_strangers() -> None:
    tries = Tries(clock=lambda: 0.0)
    for number in range(100):
        tries.turn(str(number))
    assert tries.turn("one more") > LONGEST_WAIT
    assert tries.turn("a known browser", is_known=True) == 0.0


def test_who_knows_the_password_may_go_on() -> None:
    tries = Tries(clock=lambda: 0.0)
    for _ in range(20):
        assert tries.turn("a") == 0.0
        tries.succeeded("a")


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture
def sessions(tmp_path: Path) -> LoginSessions:
    return LoginSessions(tmp_path / "res")


def test_looking_leaves_no_trace(sessions: LoginSessions) -> None:
    assert sessions.all() == []
    assert sessions.ended() == frozenset()
    assert not sessions.has_password
    assert not sessions.path.exists()


def test_a_login_is_listed_until_forty_days_after_it_was_last_seen(sessions: LoginSessions) -> None:
    sessions.record(ANN)
    sessions.record(replace(ANN, seen=300.0, address="10.0.0.2"))
    (found,) = sessions.all()
    assert found == replace(ANN, seen=300.0, address="10.0.0.2")
    bob = replace(ANN, login="b" * 32, person="bob@x.org", seen=300.0 + 41 * 86_400)
    sessions.record(bob)
    assert sessions.all() == [bob]


def test_the_file_is_readable_by_its_owner_alone(sessions: LoginSessions) -> None:
    sessions.record(ANN)
    assert stat.S_IMODE(sessions.path.stat().st_mode) == 0o600


def test_an_ended_login_stays_ended(sessions: LoginSessions) -> None:
    sessions.record(ANN)
    assert sessions.end(ANN.id).person == "ann@x.org"
    sessions.record(replace(ANN, seen=500.0))
    assert LoginSessions(sessions.path.parent).ended() == {ANN.login}
    (found,) = sessions.all()
    assert found.is_over(0.0)
    first = found.ended_by
    sessions.end_login(ANN.login, ended_by="ann@x.org")
    assert sessions.all()[0].ended_by == first, "who was the first"


def test_a_logout_of_a_login_that_was_never_listed_is_stored(sessions: LoginSessions) -> None:
    sessions.end_login("c" * 32, ended_by="carl")
    assert sessions.ended() == {"c" * 32}


def test_an_unknown_or_ambiguous_id_ends_nothing(sessions: LoginSessions) -> None:
    sessions.record(ANN)
    sessions.record(replace(ANN, login="a" * 31 + "b"))
    for id in ("", "zzz", "aaaa"):
        with pytest.raises(UnknownSession):
            sessions.end(id)
    assert sessions.ended() == frozenset()
    assert sessions.end_all() == 2


def test_only_administrators_see_and_end_sessions(
    sessions: LoginSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_ADMINISTRATORS", "ann@x.org, groups=admins")
    monkeypatch.setenv("MEMEDEX_USER", "operator")
    sessions.record(ANN)
    login = {"is_logged_in": True}
    for refused in (
        Actor("eve@x.org", claims=login),
        Actor("operator", claims=login),  # the name of who runs it, but from elsewhere
        Actor("ann@x.org"),  # without a login, but not who runs it
        Actor("eve@x.org", claims={"groups": ["curators"], "name": "admins"}),
    ):
        file = LoginSessions(sessions.path.parent, actor=refused)
        for ask in (
            file.all,
            file.end_all,
            lambda file=file: file.end(ANN.id),
            lambda f=file: f.set_password(""),
        ):
            with pytest.raises(NotPermitted):
                ask()
    with pytest.raises(LoginEnded):
        LoginSessions(
            sessions.path.parent, actor=Actor("ann@x.org", is_logged_in=lambda: False, claims=login)
        ).all()
    assert sessions.ended() == frozenset()
    for permitted in (
        Actor("ann@x.org", claims=login),
        Actor("bob@x.org", claims={"groups": ["staff", "Admins"]}),
        Actor("operator"),
    ):
        assert len(LoginSessions(sessions.path.parent, actor=permitted).all()) == 1


def test_a_new_password_ends_the_logins_by_the_old_one(sessions: LoginSessions) -> None:
    sessions.set_password("the first one")
    assert sessions.has_password
    assert sessions.is_password("the first one")
    assert b"the first one" not in sessions.path.read_bytes()
    by_password = replace(ANN, provider="password", login="d" * 32)
    sessions.record(ANN)
    sessions.record(by_password)
    with pytest.raises(InvalidRecord, match="10 characters"):
        sessions.set_password("short")
    assert sessions.ended() == frozenset()
    sessions.set_password("the second one")
    assert sessions.ended() == {by_password.login}
    assert not sessions.is_password("the first one")
    sessions.set_password("")
    assert not sessions.has_password
    assert not sessions.is_password("")


def test_the_secret_of_the_cookies_stays_the_same(sessions: LoginSessions) -> None:
    secret = sessions.cookie_secret()
    assert len(secret) == 64
    assert LoginSessions(sessions.path.parent).cookie_secret() == secret


def test_a_file_of_another_program_is_kept(sessions: LoginSessions) -> None:
    sessions.path.parent.mkdir()
    with closing(sqlite3.connect(sessions.path)) as db:
        db.execute("CREATE TABLE theirs (a)")
    before = sessions.path.read_bytes()
    for ask in (sessions.all, sessions.ended, lambda: sessions.record(ANN)):
        with pytest.raises(ForeignFile, match="theirs"):
            ask()
    assert sessions.path.read_bytes() == before


@pytest.mark.slow
def test_the_command_line_lists_and_ends_them(sessions: LoginSessions) -> None:
    sessions.record(replace(ANN, began=time.time(), seen=time.time()))

    def run(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "store", "--root", str(sessions.path.parent), *arguments]
        return subprocess.run(command, input=typed, capture_output=True, text=True, timeout=120, check=False)

    listed = run("sessions", "--json").stdout
    assert '"person": "ann@x.org"' in listed
    assert ANN.login not in listed
    assert run("sessions", "--end", "zzz").returncode == 1
    ended = run("sessions", "--end", ANN.id)
    assert (ended.returncode, "ann@x.org" in ended.stderr) == (0, True)
    assert sessions.ended() == {ANN.login}
    assert run("password", typed="a good password\n").returncode == 0
    assert sessions.is_password("a good password")
