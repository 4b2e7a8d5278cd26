"""Insights: what is in the library, how it is reviewed, and how well it is found; any two sets compared."""

from components.insights import insights
from components.shell import refresh
from components.shell.page import open_page

library = open_page("Insights")
refresh.follow(library)
insights.show(library)
