"""Insights: what is in the library, how it is reviewed, and how well it is found; any two sets compared."""

from components.insights import insights
from components.search import evaluation
from components.shell.page import live, views
from components.shell.page.frame import open_page

library = open_page("Insights")
view = views.choose(("Content", "Reviewing", "Search quality"))
if view == "Search quality":
    evaluation.show(library, further=insights.of_quality)
else:
    live.follow(library)
    insights.show(library, view)
