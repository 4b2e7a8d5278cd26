"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st
from starlette.middleware import Middleware

from components.editor import messages as editor_messages
from components.grid import decisions, deferred_cards, tags
from components.map import requests as map_requests
from components.shell import (
    error_page,
    events,
    forms,
    health_check,
    javascript,
    job_control,
    lifespan,
    logs,
    messages,
    metrics,
    password_login,
    pictures,
    server_names,
)
from components.shell.request_guard import RequestGuard

logs.begin()
server_names.allow_own_names()
password_login.keep_secret()
app = st.App(
    "overview.py",
    routes=[
        *javascript.routes(),
        *pictures.routes(),
        *messages.routes(
            decisions.KIND,
            forms.KIND,
            deferred_cards.KIND,
            tags.KIND,
            job_control.KIND,
            *map_requests.KINDS,
            *editor_messages.KINDS,
        ),
        *events.routes(),
        *password_login.routes(),
        *health_check.routes(),
        *metrics.routes(),
    ],
    middleware=[Middleware(RequestGuard)],
    lifespan=lifespan.lifespan,
    on_script_error=error_page.show_error,
)
