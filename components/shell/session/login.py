"""Who may see the pages: anybody on this machine, and from others those who are logged in."""

import asyncio
import ipaddress
import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config
from streamlit.auth_util import get_secrets_auth_section
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.shell import addresses, javascript
from components.shell.addresses import base_path, counted_address
from components.shell.session import logins, presenter
from store import Actor, may_view
from store.sessions import LONGEST_WAIT, PASSWORD, Tries

_wanted_page = javascript.mounted("wanted_page", script="shell/session/wanted_page.js")

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
    return listens_farther() or bool(addresses.public_names()) or logins.has_password()


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
        or not all(addresses.is_loopback(place) for place in places if isinstance(place, str))
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
    has_password = logins.has_password()
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
        password_form()
    if has_provider:
        _wanted_page(key="memedex-page-to-return-to", data={"asks": True})
        st.button("Log in", type="primary", on_click=st.login)


def _say_how_to_set_up() -> None:
    st.error("This server is reachable from other machines, but no login is set up.")
    st.markdown(
        "Either let it listen on this machine alone, `streamlit run app.py --server.address 127.0.0.1`, "
        "or set a shared password, `python -m store password`, "
        "or set up a login: an `[auth]` section in `.streamlit/secrets.toml` "
        "(OpenID Connect; Streamlit's documentation of `st.login` lists the fields)."
    )


LIFETIME = 7 * 86_400  # seconds of a login
LONGEST_NAME = 60  # characters
_SECRET = "server.cookieSecret"
_DEVICE = "memedex_device"  # the cookie of a browser from which somebody has logged in …
_REMEMBERED = 30 * 86_400  # … and its seconds: its tries do not wait for those of strangers

tries = Tries()

_password_form = javascript.mounted(
    "password",
    '<form class="memedex-password"></form>',
    script="shell/session/password.js",
    style="shell/session/password.css",
)


def password_address() -> str:
    """Where the form is sent."""
    return f"{base_path()}/login"


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(password_address(), serve, methods=["POST"])]


def password_form() -> None:
    """The fields for name and password; the page is loaded again once they are accepted."""
    _password_form(key="memedex-password", data={"url": password_address(), "longest": LONGEST_NAME})


def keep_secret() -> None:
    """Sign cookies with a stored secret, so that logins by password outlast a restart."""
    if logins.has_password() and not config.is_manually_set(_SECRET) and not get_secrets_auth_section():
        config.set_option(_SECRET, logins.sessions().cookie_secret(), "memedex")


async def serve(request: Request) -> Response:
    """Set the cookie of a login if the password is right; after wrong ones a try waits for its turn."""
    if not await run_in_threadpool(logins.has_password):
        return PlainTextResponse("no password is set", 404)
    try:
        sent = json.loads(await request.body())
        name, password = " ".join(sent["name"].split()), sent["password"] + ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return PlainTextResponse("not a name and a password", 400)
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return PlainTextResponse(f"Type your name, at most {LONGEST_NAME} characters.", 400)
    device = _device(request)
    place = device or counted_address(request.scope)
    wait = tries.turn(place, is_known=bool(device))
    if wait > LONGEST_WAIT:
        seconds = int(wait) + 1
        headers = {"Retry-After": str(seconds)}
        return PlainTextResponse(f"Too many tries. Try again in {seconds} s.", 429, headers=headers)
    await asyncio.sleep(wait)
    if not await run_in_threadpool(logins.sessions().is_password, password):
        return PlainTextResponse("This is not the password.", 401)
    tries.succeeded(place)
    return await run_in_threadpool(_logged_in, request, name, device or secrets.token_hex(16))


def _device(request: Request) -> str:
    """The number of a browser from which somebody has logged in before; "" of any other."""
    sent = request.cookies.get(_DEVICE, "")
    known = decode_signed_value(get_cookie_secret(), _DEVICE, sent.encode("utf-8", "replace"))
    return known.decode() if known else ""


def _logged_in(request: Request, name: str, device: str) -> Response:
    now = int(time.time())
    origin = request.headers.get("origin") or f"{request.url.scheme}://{request.headers.get('host')}"
    claims: Mapping[str, Any] = {
        "is_logged_in": True, "provider": PASSWORD, "name": name, "sub": "shared password",
        "iat": now, "exp": now + LIFETIME, "nonce": secrets.token_hex(16),
    }  # fmt: skip
    client = request.client.host if request.client else ""
    logins.record(claims, address=client, browser=request.headers.get("user-agent", ""))
    signed = create_signed_value(
        get_cookie_secret(), USER_COOKIE_NAME, json.dumps({**claims, "origin": origin})
    )
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    known = create_signed_value(get_cookie_secret(), _DEVICE, device)
    for cookie, value, lifetime in ((USER_COOKIE_NAME, signed, LIFETIME), (_DEVICE, known, _REMEMBERED)):
        response.set_cookie(
            cookie,
            value.decode(),
            max_age=lifetime,
            path=base_path() or "/",
            httponly=True,
            samesite="lax",
            secure=origin.startswith("https:"),
        )
    return response
