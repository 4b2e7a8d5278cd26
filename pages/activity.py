"""Activity: jobs, and every decision about coins and texts; undo one, or everything since a moment."""

from components.insights import audit_log
from components.memory import open_memory
from components.review import jobs
from components.shell.page import views
from components.shell.page.frame import open_page

library = open_page("Activity")
memory = open_memory.existing(library)

if views.choose(("Decisions", "Jobs")) == "Jobs":
    jobs.show(library)
else:
    filter = audit_log.controls(library, memory)
    audit_log.figures(library, filter)
    audit_log.decision_charts(library, filter)
    audit_log.tools(library, memory, filter)
    audit_log.table(library, memory, filter)
    audit_log.deleted_items(library)
