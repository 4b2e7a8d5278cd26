"""The page that `bench.sliders` measures, with the route that serves its pictures."""

import streamlit as st

from components import pictures

app = st.App("sliders_stage.py", routes=[*pictures.routes()])
