"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st

from components import pictures

app = st.App("overview.py", routes=pictures.routes())
