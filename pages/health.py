"""Whether all is well, what to do where it is not, and how the library is set up."""

import streamlit as st

from components import health_report, inventory, model_choice
from components.frame import open_page

library = open_page("Health")

grid = st.grid(2, min_column_width=380, gap=("small", "large"))
with grid.cell():
    st.subheader("At a glance", anchor=False)
    health_report.at_once(library)
with grid.cell():
    st.subheader("Embedding model", anchor=False)
    model_choice.show(library)
st.subheader("Examination", anchor=False)
health_report.examine(library)
with st.expander("Where the data is", icon=":material/folder:"):
    inventory.places(library)
with st.expander("Settings", icon=":material/tune:"):
    inventory.configuration()
