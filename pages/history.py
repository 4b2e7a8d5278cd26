"""History: every decision, who, when and what; undo one, or everything since a moment."""

from components.review import audit_log
from components.shell.page.frame import open_page

library = open_page("History")

filter = audit_log.controls(library)
audit_log.figures(library, filter)
audit_log.decision_charts(library, filter)
audit_log.tools(library, filter)
audit_log.table(library, filter)
audit_log.deleted_items(library)
