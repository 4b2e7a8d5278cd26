"""What a page waits for comes to it as it was, also as an error."""

from streamlit.testing.v1 import AppTest


def test_what_was_worked_out_beside_the_page_is_given_and_raised() -> None:
    def page() -> None:
        import streamlit as st

        from components import getting_ready

        st.text(getting_ready.outcome(lambda: "found", "Looking …"))
        getting_ready.outcome(lambda: {}["lost"], "Looking …")

    app = AppTest.from_function(page).run()
    assert app.text[0].value == "found"
    assert app.exception[0].message == "'lost'"
