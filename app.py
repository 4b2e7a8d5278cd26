"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st

from components import going_on, left_page, mishaps, pictures
from components.editor.routes import routes as editor_routes
from components.grid import beacon, late_cards

left_page.forget()
app = st.App(
    "overview.py",
    routes=[*pictures.routes(), *beacon.routes(), *editor_routes(), *late_cards.routes()],
    lifespan=going_on.from_the_start,
    on_script_error=mishaps.tell,
)
