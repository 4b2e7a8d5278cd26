"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st

from components import going_on, mishaps, pictures, reruns
from components.editor.routes import routes as editor_routes
from components.grid import beacon, late_cards

reruns.mend()
app = st.App(
    "overview.py",
    routes=[*pictures.routes(), *beacon.routes(), *editor_routes(), *late_cards.routes()],
    lifespan=going_on.from_the_start,
    on_script_error=mishaps.tell,
)
