"""History: every decision, who, when and what; undo one, or everything since a moment."""

from components.review import audit_log, decision_charts, deleted_items
from components.shell.page.frame import open_page

library = open_page("History")

filter = audit_log.controls(library)
audit_log.figures(library, filter)
decision_charts.show(library, filter)
audit_log.tools(library, filter)
audit_log.table(library, filter)
deleted_items.show(library)
