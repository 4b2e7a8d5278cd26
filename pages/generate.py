"""From results to the model: the exact context a generator gets, and a new coin made from it."""

from components import context_view, generating, welcome
from components.frame import open_page

library = open_page("To the model")

welcome.stop_without_coins(library)
asked = context_view.ask(library)
generating.show(library, asked)
