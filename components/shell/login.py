"""Who may see the pages: anybody on this machine, and from others those who are logged in."""

import ipaddress
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from components.shell import javascript, known_sessions, logins, password_login, presenter, server_names
from store.permissions import Actor, may_view
from store.sessions import PASSWORD

_wanted_page = st.components.v2.component(
    "memedex.wanted_page",
    js=javascript.component(Path(__file__).with_name("wanted_page.js")),
)

_REMOTE = "memedex.remote"  # this session was seen to come from another machine


def listens_farther() -> bool:
    """Whether other machines can reach this server."""
    address = st.get_option("server.address")
    if address == "localhost":
        return False
    try:
        return not ipaddress.ip_address(address or "").is_loopback
    except ValueError:  # no address is every address; a name may be any
        return True


def is_required() -> bool:
    """Whether only those who are logged in may see the library: other machines can reach this server.

    A server on loopback is reached by a proxy as well if its settings give it a public name, or by other
    people of this machine, if it has a password.
    """
    return listens_farther() or bool(server_names.public_names()) or known_sessions.has_password()


def claims() -> logins.Claims:
    """What the login of this run says of its person; empty outside of a run.

    `st.user` looks for the file of secrets whenever it is asked for one value.
    """
    return st.user.to_dict()


def may_see() -> bool:
    """Whether the current user may see the library."""
    login = claims()
    if not login.get("is_logged_in"):
        return not is_required()
    if not is_permitted(login, session=session()):
        return False
    browser = str(st.context.headers.get("User-Agent") or "")
    logins.record(login, address=str(st.context.ip_address or ""), browser=browser)
    return True


def is_permitted(claims: logins.Claims, *, session: str = "") -> bool:
    """Whether this login is valid, and its person may see the library."""
    return logins.is_current(claims, session=session) and may_view(logins.person(claims), claims)


def person() -> str:
    """The login's e-mail address if there is a login, else the current user of this machine."""
    return logins.person(claims())


def actor() -> Actor:
    """The person at the page of this run, also for what outlives it: callbacks, fragments."""
    login = claims()
    return logins.actor(logins.person(login), login, is_logged_in=still_permitted())


def session() -> str:
    """The browser session of this run; "" outside of one."""
    run = get_script_run_ctx(suppress_warning=True)
    return run.session_id if run else ""


def still_permitted() -> Callable[[], bool]:
    """A check of this run's login, to repeat in what outlives it: callbacks, fragments.

    Background jobs continue: those who started them were logged in then.
    """
    login, asked_in = claims(), session()
    if not login.get("is_logged_in"):
        return lambda: True
    return lambda: get_script_run_ctx(suppress_warning=True) is None or is_permitted(login, session=asked_in)


def is_local() -> bool:
    """Whether the request comes from this machine, without a proxy in between."""
    if st.session_state.get(_REMOTE):
        return False
    headers = st.context.headers
    places = [st.context.ip_address or "localhost", headers.get("Host") or "localhost"]
    if origin := headers.get("Origin"):
        places.append(urlsplit(origin).netloc)
    by_proxy = any(headers.get(name) for name in ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"))
    unknown = not headers.get("Host") and listens_farther()  # the browser is gone in the middle of the run
    if (
        by_proxy
        or unknown
        or not all(server_names.is_loopback(place) for place in places if isinstance(place, str))
    ):
        st.session_state[_REMOTE] = not unknown
        return False
    return True


def account() -> None:
    """Who is logged in, and the logout button; nothing if no login is required."""
    if claims().get("is_logged_in"):
        _wanted_page(key="memedex-wanted-page", data={"asks": False})
        st.text(presenter.name(person()))
        st.button("Log out", key="log-out", type="tertiary", icon=":material/logout:", on_click=_log_out)


def _log_out() -> None:
    """End this login in all tabs."""
    login = claims()
    by_password = login.get("provider") == PASSWORD
    logins.end(login, session=session())
    if not by_password:  # that one has ended, and there is no provider to tell
        st.logout()


def ask_to_log_in() -> None:
    """Say why nothing is shown, and how to log in."""
    st.title("Memedex")
    if claims().get("is_logged_in") and logins.is_current(claims(), session=session()):
        st.error("You have no access to this library.")
        st.text(f"You are logged in as {person()}. Ask the administrator to add you, or use another login.")
        st.button("Log out", key="log-out", icon=":material/logout:", on_click=_log_out)
        return
    has_password = known_sessions.has_password()
    # Streamlit says that nobody is logged in only where there is a provider to log in with.
    has_provider = "is_logged_in" in claims() and claims().get("provider") != PASSWORD
    if not has_password and not has_provider:
        _say_how_to_set_up()
        return
    if claims().get("is_logged_in"):
        st.text("Your login has ended. What you decided and typed waits in this browser until you are back.")
    else:
        st.text("This library is shared with other machines, so it asks who you are.")
    if has_password:
        password_login.form()
    if has_provider:
        _wanted_page(key="memedex-wanted-page", data={"asks": True})
        st.button("Log in", type="primary", on_click=st.login)


def _say_how_to_set_up() -> None:
    st.error("This server is reachable from other machines, but no login is set up.")
    st.markdown(
        "Either let it listen on this machine alone, `streamlit run app.py --server.address 127.0.0.1`, "
        "or set a shared password, `python -m store password`, "
        "or set up a login: an `[auth]` section in `.streamlit/secrets.toml` "
        "(OpenID Connect; Streamlit's documentation of `st.login` lists the fields)."
    )
