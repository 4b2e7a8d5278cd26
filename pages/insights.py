"""Insights: what is in the library, how it is reviewed, and how well it is found; any two sets compared."""

from components.insights import insights
from components.shell.page import live
from components.shell.page.frame import open_page

library = open_page("Insights")
live.follow(library)
insights.show(library)
