"""Memory: ask what answers a question and what a model is told, browse texts, review what agents wrote."""

from components.memory import ask, browse, entry_drawer, open_memory, pending, welcome
from components.shell.page import views
from components.shell.page.frame import open_page

library = open_page("Memory", undo=open_memory.undo_button)

memory = open_memory.memory(can_write=library.can_write)
chosen = views.choose(["Ask", "Browse", "Review"], counts={"Review": memory.pending_count()})
if welcome.is_needed(memory, chosen):
    welcome.show(memory)
elif chosen == "Ask":
    ask.show(memory)
elif chosen == "Browse":
    browse.show(library, memory)
else:
    pending.show(library, memory)
entry_drawer.show_if_open(library, memory)
