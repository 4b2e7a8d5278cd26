"""History: every decision about coins and texts; undo one, or everything since a moment."""

from components.insights import audit_log
from components.memory import open_memory
from components.shell.page.frame import open_page

library = open_page("History")
memory = open_memory.existing(library)

filter = audit_log.controls(library, memory)
audit_log.figures(library, filter)
audit_log.decision_charts(library, filter)
audit_log.tools(library, memory, filter)
audit_log.table(library, memory, filter)
audit_log.deleted_items(library)
