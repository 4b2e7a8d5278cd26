"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st
from starlette.middleware import Middleware

from components.editor import messages as editor_messages
from components.grid import coin, decisions, deferred_cards, tags
from components.map import requests as map_requests
from components.shell import addresses, javascript
from components.shell.page import forms, job_bar, palette
from components.shell.server import (
    error_page,
    events,
    former_addresses,
    lifespan,
    logs,
    messages,
    monitoring,
    pictures,
)
from components.shell.server.request_guard import RequestGuard
from components.shell.session import login

lifespan.share_memory()
logs.begin()
addresses.allow_own_names()
login.keep_secret()
app = st.App(
    "overview.py",
    routes=[
        *former_addresses.routes(),
        *javascript.routes(),
        *pictures.routes(),
        *messages.routes(
            decisions.KIND,
            forms.KIND,
            coin.KIND,
            deferred_cards.KIND,
            tags.KIND,
            job_bar.KIND,
            palette.KIND,
            *map_requests.KINDS,
            *editor_messages.KINDS,
        ),
        *events.routes(),
        *login.routes(),
        *monitoring.routes(),
    ],
    middleware=[Middleware(RequestGuard)],
    lifespan=lifespan.lifespan,
    on_script_error=error_page.show_error,
)
