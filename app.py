"""The app and its routes; `streamlit run app.py` starts it."""

import streamlit as st
from starlette.middleware import Middleware

from components.editor.routes import routes as editor_routes
from components.grid import beacon, deferred_cards, tags
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
        *beacon.routes(),
        *editor_routes(),
        *deferred_cards.routes(),
        *tags.routes(),
        *map_requests.routes(),
        *events.routes(),
        *password_login.routes(),
        *job_control.routes(),
        *forms.routes(),
        *health_check.routes(),
        *metrics.routes(),
    ],
    middleware=[Middleware(RequestGuard)],
    lifespan=lifespan.lifespan,
    on_script_error=error_page.show_error,
)
