"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st

from components.editor.routes import routes as editor_routes
from components.grid import beacon, deferred_cards, tags
from components.shell import error_page, events, javascript, job_control, lifespan, pictures, streamlit_patch

streamlit_patch.apply_patch()
app = st.App(
    "overview.py",
    routes=[
        *javascript.routes(),
        *pictures.routes(),
        *beacon.routes(),
        *editor_routes(),
        *deferred_cards.routes(),
        *tags.routes(),
        *events.routes(),
        *job_control.routes(),
    ],
    lifespan=lifespan.lifespan,
    on_script_error=error_page.show_error,
)
