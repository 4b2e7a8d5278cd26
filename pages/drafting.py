"""Having a language model draft captions for many coins: what, with which words, and for how much."""

from components import draft_run, prompt_desk
from components.frame import open_page

library = open_page("Drafting")

draft_run.show(library)
prompt_desk.show(library)
