"""Search the library by words, by picture or by example, and see why each result is where it is."""

from components import newest, search_box, search_results, welcome
from components.frame import open_page

library = open_page("Search")

welcome.stop_without_coins(library)
asked = search_box.ask(library)
if asked.parts or asked.narrows:
    search_results.show(library, asked)
else:
    search_box.invite(library)
    newest.show("search-newest", library, limit=18)
