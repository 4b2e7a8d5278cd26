"""What a page that was left still asks for does not empty the one that is shown."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Serve

_APP = """
import streamlit as st
from components.shell import streamlit_patch

streamlit_patch.apply_patch()
app = st.App("first.py")
"""
_FIRST = """
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


def test_a_look_of_the_page_that_was_left_is_dropped(page: Page, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    for name, text in {"main.py": _APP, "first.py": _FIRST, "pages/second.py": _SECOND}.items():
        (tmp_path / name).write_text(text)
    server = serve(tmp_path, app=str(tmp_path / "main.py"))
    page.goto(server.url)
    expect(page.get_by_text("looking")).to_be_visible()
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text(re.compile(r"looked \d\d+ times"))).to_be_visible()
    expect(page.get_by_text("line 1499 of the second page")).to_be_visible()
