"""Draft captions for many coins with a language model."""

from components.captions import draft, prompts
from components.shell.page.frame import open_page

library = open_page("AI drafts")

draft.show(library)
prompts.show(library)
draft.spending(library)
