"""History: every decision, who, when and what; undo one, or everything since a moment."""

from components.review import audit_log, decision_charts, removed
from components.shell.page import open_page

library = open_page("History")

asked = audit_log.controls(library)
audit_log.figures(library, asked)
decision_charts.show(library, asked)
audit_log.tools(library, asked)
audit_log.table(library, asked)
removed.show(library)
