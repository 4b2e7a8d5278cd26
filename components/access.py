"""Who may see the pages: anybody at this machine, and from farther away who is logged in."""

import ipaddress
from pathlib import Path

import streamlit as st

from store.people import myself

_wanted_page = st.components.v2.component(
    "memedex.wanted_page",
    js=(Path(__file__).parent / "assets" / "wanted_page.js").read_text(encoding="utf-8"),
)


def listens_farther() -> bool:
    """Whether other machines can reach this server."""
    address = st.get_option("server.address")
    if address == "localhost":
        return False
    try:
        return not ipaddress.ip_address(address or "").is_loopback
    except ValueError:  # no address is every address; a name may be any
        return True


def may_see() -> bool:
    """Whether whoever asks may see the library."""
    return not listens_farther() or bool(st.user.get("is_logged_in"))


def person() -> str:
    """Who decides: the login's e-mail address where there is a login, else whoever runs this server."""
    if not st.user.get("is_logged_in"):
        return myself()
    email, verified = st.user.get("email"), st.user.get("email_verified")
    if isinstance(email, str) and email and verified is not False:
        return email
    # Names can be chosen freely: in brackets none can be taken for somebody on the lists of people.
    return f"{st.user.get('name') or 'somebody'} ({st.user.get('sub') or 'unknown'})"


def account() -> None:
    """Who is logged in, and the way out; nothing where nobody is asked to log in."""
    if st.user.get("is_logged_in"):
        _wanted_page(key="memedex-wanted-page", data={"asks": False})
        st.text(person())
        st.button("Log out", key="log-out", type="tertiary", icon=":material/logout:", on_click=st.logout)


def ask_to_log_in() -> None:
    """Say why nothing is shown, and how to get in."""
    st.title("Memedex")
    if "is_logged_in" in st.user:
        _wanted_page(key="memedex-wanted-page", data={"asks": True})
        st.text("This library is shared with other machines, so it asks who you are.")
        st.button("Log in", type="primary", on_click=st.login)
        return
    st.error("This server can be reached from other machines, and nobody could be asked for a login.")
    st.markdown(
        "Either let it listen on this machine alone, `streamlit run app.py --server.address 127.0.0.1`, "
        "or set up a login: an `[auth]` section in `.streamlit/secrets.toml` "
        "(OpenID Connect; Streamlit's documentation of `st.login` lists the fields)."
    )
