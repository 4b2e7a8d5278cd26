"""Search: coins by words, picture or example; the map of the library; and a prompt made of what is found."""

from functools import partial

import streamlit as st

from components.generate import context, generate
from components.grid import newest
from components.map import view as map_view
from components.overview import welcome
from components.search import box, results
from components.shell.page import live, places, views
from components.shell.page.frame import open_page
from store.maps import LEAST

VIEWS = ("Results", "Map", "Use as prompt")

library = open_page("Search", is_grid=True)
view = views.shown(VIEWS)
if view != "Map":
    welcome.stop_without_coins(library)
request = box.controls(library, lead=partial(views.choose, VIEWS), has_tools=view == "Results")
if request.is_refused:
    box.correct(request)
elif view == "Map":
    live.follow(library)
    if library.counts()["library"] >= LEAST:
        with st.container():
            map_view.show(library, request.question, request.parts)
    else:
        st.info(f"A map needs at least {LEAST} coins in the library.", icon=":material/scatter_plot:")
        st.page_link(**places.to("Approved"), label="Approved coins", icon=":material/task_alt:")
elif view == "Use as prompt":
    with st.container():
        asked = context.controls(library, request.question, request.parts, folds=request.folded)
        generate.show(library, asked)
elif request.parts or request.narrows:
    results.show(library, request)
else:
    box.invite(library)
    newest.show("search-newest", library, limit=18)
