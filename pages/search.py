"""Search the library by words, picture or example, and see why each result is where it is."""

from components.grid import newest
from components.overview import welcome
from components.search import box, results
from components.shell.page import open_page

library = open_page("Search")

welcome.stop_without_coins(library)
asked = box.controls(library)
if asked.question.filter_faults:
    box.correct(asked)
elif asked.parts or asked.narrows:
    results.show(library, asked)
else:
    box.invite(library)
    newest.show("search-newest", library, limit=18)
