"""Generate a coin: the exact context that a model gets, and the new coin made from it."""

from components.generate import context, generate
from components.overview import welcome
from components.shell.page.frame import open_page

library = open_page("Generate")

welcome.stop_without_coins(library)
request = context.controls(library)
generate.show(library, request)
