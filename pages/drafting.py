"""Draft captions for many coins with a language model."""

from components.captions import draft, prompts, spending
from components.shell.page.frame import open_page

library = open_page("AI drafts")

draft.show(library)
prompts.show(library)
spending.show(library)
