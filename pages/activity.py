"""Activity: jobs, and every decision about coins and texts; undo one, or everything since a moment."""

from components.activity import jobs, timeline
from components.memory import open_memory
from components.shell.page.frame import open_page

library = open_page("Activity", reversals=timeline.last_decision)
memory = open_memory.existing(library)

jobs.show_open(library)
filter = timeline.controls(library, memory)
timeline.table(library, memory, filter)
timeline.deleted_items(library)
