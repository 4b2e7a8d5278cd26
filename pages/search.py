"""Search the library by words, picture or example, and see why each result is where it is."""

import streamlit as st

from components.grid import newest
from components.overview import welcome
from components.search import box, results
from components.shell.page import places
from components.shell.page.frame import open_page

library = open_page("Search", is_grid=True)

welcome.stop_without_coins(library)
request = box.controls(library)
if request.is_refused:
    box.correct(request)
elif request.parts or request.narrows:
    results.show(library, request)
else:
    box.invite(library)
    st.page_link(**places.MAP, label="Map of the library", icon=":material/scatter_plot:")
    newest.show("search-newest", library, limit=18)
