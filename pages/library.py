"""Library: the promoted coins, the rejected ones with their reasons, all of them, and families."""

from functools import partial

import streamlit as st

from components.grid.actions import verbs
from components.grid.browse import browse, no_matches, show_view
from components.grid.cards import tier_mark
from components.review import families, rejected
from components.review.verbs import handlers
from components.shell.page import live, places, views
from components.shell.page.frame import open_page
from store import Filter
from store.records import Tier

TIERS: dict[str, Tier] = {"Library": "library", "Rejected": "trash"}

library = open_page("Library", is_grid=True)

live.follow_badges(library)
counts = library.counts()
tabs = {"Library": counts["library"], "Rejected": counts["trash"], "All": sum(counts.values())}
lead = partial(views.choose, [*tabs, "Family"], parameter="tab", counts=tabs)
tab = views.shown([*tabs, "Family"], parameter="tab")
if tab == "Family":
    families.show(library, lead=lead)
    st.stop()
# Keys are part of addresses: "trash" and "library" were pages of their own, the latter with all coins.
key = {"Library": "promoted", "Rejected": "trash", "All": "library"}[tab]
view = browse(
    key,
    library,
    lead=lead,
    base=Filter(tier=TIERS.get(tab)),
    more=partial(rejected.empty, library) if tab == "Rejected" else None,
)
mark = {"Rejected": rejected.marks(library, view.records), "All": tier_mark}.get(tab)
tier = TIERS.get(tab)
show_view(
    key,
    library,
    view,
    actions=verbs(*([tier] if tier else [])),
    handlers=handlers(key),
    mark=mark or (lambda _: None),
    table=True,
)

if not view.records and view.is_filtered:
    no_matches(key, view)
elif not view.records and tab == "Rejected":
    st.info("No coin is rejected. Rejected coins stay here until you delete them.", icon=":material/delete:")
    st.page_link("pages/review.py", label="Review", icon=":material/inbox:")
elif not view.records and tab == "Library" and counts["approved"]:
    st.info("No coin is promoted yet.", icon=":material/photo_library:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
elif not view.records:
    st.info("There are no coins yet.", icon=":material/photo_library:")
    st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
