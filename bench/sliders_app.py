"""The page that `bench.sliders` measures, with the routes that serve its pictures and cards."""

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.sliders_looks import StagedLibrary
from components.grid import deferred_cards
from components.shell import javascript, pictures
from components.shell.signed_post import answered


async def cards(request: Request) -> Response:
    """The answers of `deferred_cards` for the made-up records."""
    return await answered(
        request, lambda library, asked: deferred_cards.answer(StagedLibrary.of(library), asked)
    )


routes = [*javascript.routes(), *pictures.routes(), Route(deferred_cards.address(), cards, methods=["POST"])]
app = st.App("sliders_stage.py", routes=routes)
