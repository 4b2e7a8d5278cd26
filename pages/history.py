"""Every decision: who, when and what; taken back one by one, or everything since a moment."""

from components import decided
from components.frame import open_page

library = open_page("History")

asked = decided.ask(library)
decided.figures(library, asked)
decided.tools(library, asked)
decided.book(library, asked)
