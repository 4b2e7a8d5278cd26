"""Nothing is lost where one run of a page follows closely on another."""

import re
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Serve
from tests.browser.dashboard import Server

_APP = """
import streamlit as st
from components import reruns

reruns.mend()
app = st.App("first.py")
"""
_BUSY = """
import time
from streamlit.runtime.app_session import AppSession

hear = AppSession._handle_scriptrunner_event_on_event_loop

def late(*told):  # as on a machine that does other things too
    time.sleep(0.002)
    hear(*told)

AppSession._handle_scriptrunner_event_on_event_loop = late
"""
_LEAVING = """
import streamlit as st

st.fragment(lambda: st.text("looking"), run_every=0.02)()
if st.button("Go"):
    st.switch_page("pages/second.py")
"""
_SECOND = """
import streamlit as st

for line in range(1_500):  # so much that a look of the first page comes meanwhile
    st.text(f"line {line} of the second page")
looks = st.session_state.setdefault("looks", [])
st.fragment(lambda: st.text(f"looked {looks.append(1) or len(looks)} times"), run_every=0.2)()
"""
_TALKING = """
import streamlit as st

@st.dialog("Talk", on_dismiss=lambda: close())
def talk():
    if "open" not in st.session_state:
        st.rerun()
    said = st.text_input("Say")
    st.text(f"heard {said}")
    st.button("Close it", on_click=close)

def close():
    st.session_state.pop("open", None)

for line in range(40):
    st.text(f"line {line}")
st.button("Open", on_click=lambda: st.session_state.update(open=True))
if "open" in st.session_state:
    talk()
st.fragment(lambda: st.text("looking"), run_every=0.25)()
st.button("Below")
"""
_SLOW = """
import time
import streamlit as st

def carry_out():
    for _ in range(100):
        time.sleep(0.01)
        st.session_state.get("done")
    st.session_state["done"] = True

st.button("Carry it out", on_click=carry_out)
st.button("Something else", key="else", on_click=lambda: st.session_state.update(more=True))
st.text(f"carried out: {'done' in st.session_state}, something else: {'more' in st.session_state}")
"""
_WAITING = """
import threading
import streamlit as st
from components import getting_ready

st.button("Elsewhere", on_click=lambda: st.session_state.update(elsewhere=True))
if "elsewhere" not in st.session_state:
    getting_ready.outcome(threading.Event().wait, "Waiting for what never comes …")
st.text("elsewhere" if "elsewhere" in st.session_state else "came")
"""


def begin(page: Page, serve: Serve, folder: Path, scripts: Mapping[str, str]) -> Server:
    (folder / "pages").mkdir()
    for name, text in {"main.py": _APP, **scripts}.items():
        (folder / name).write_text(text)
    server = serve(folder, app=str(folder / "main.py"))
    page.goto(server.url)
    return server


def test_a_look_of_the_page_that_was_left_is_dropped(page: Page, serve: Serve, tmp_path: Path) -> None:
    begin(page, serve, tmp_path, {"first.py": _LEAVING, "pages/second.py": _SECOND})
    expect(page.get_by_text("looking")).to_be_visible()
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text(re.compile(r"looked \d\d+ times"))).to_be_visible()
    expect(page.get_by_text("line 1499 of the second page")).to_be_visible()


def test_dialogs_open_answer_and_close_while_something_looks_again_and_again(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    begin(page, serve, tmp_path, {"first.py": _TALKING, "main.py": _BUSY + _APP})
    dialog = page.get_by_role("dialog")
    for number in range(5):
        page.get_by_role("button", name="Below").click()  # what stands below what looks stays
        page.get_by_role("button", name="Open").click()
        dialog.get_by_role("textbox").fill(f"word {number}")
        dialog.get_by_role("textbox").press("Enter")
        expect(dialog).to_contain_text(f"heard word {number}")
        dialog.get_by_role("button", name="Close it").click()
        expect(dialog).to_have_count(0)


def test_what_a_click_began_is_carried_out_whatever_is_clicked_meanwhile(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    begin(page, serve, tmp_path, {"first.py": _SLOW})
    page.get_by_role("button", name="Carry it out").click()
    page.get_by_role("button", name="Something else").click()
    expect(page.get_by_text("carried out: True, something else: True")).to_be_visible()


def test_a_click_is_heeded_while_a_page_waits_for_something_long(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    begin(page, serve, tmp_path, {"first.py": _WAITING})
    expect(page.get_by_text("Waiting for what never comes …")).to_be_visible()
    page.get_by_role("button", name="Elsewhere").click()
    expect(page.get_by_text("elsewhere", exact=True)).to_be_visible()
