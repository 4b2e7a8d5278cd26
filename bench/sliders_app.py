"""The page that `bench.sliders` measures, with the routes that serve its pictures and cards."""

from dataclasses import replace

import streamlit as st

from bench.sliders_looks import StagedLibrary
from components.grid import deferred_cards
from components.shell import javascript
from components.shell.server import messages, pictures

# The answers of `deferred_cards` for the made-up records.
CARDS = replace(
    deferred_cards.KIND,
    answer=lambda library, question, sender: deferred_cards.answer(
        StagedLibrary.of(library), question, sender
    ),
)
routes = [*javascript.routes(), *pictures.routes(), *messages.routes(CARDS)]
app = st.App("sliders_stage.py", routes=routes)
