"""The page that `bench.sliders` measures, with the routes that serve its pictures and cards."""

from typing import cast

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.sliders_looks import Stage
from components import pictures
from components.grid import late_cards
from components.posted import answered
from store.library import Library


async def cards(request: Request) -> Response:
    """What `late_cards` answers, of the made-up records."""
    return await answered(
        request, lambda library, asked: late_cards.answer(cast(Library, Stage(library)), asked)
    )


routes = [*pictures.routes(), Route(late_cards.address(), cards, methods=["POST"])]
app = st.App("sliders_stage.py", routes=routes)
