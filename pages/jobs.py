"""Jobs: what runs, what is paused and can continue, what is finished, and what was refused and why."""

from components.review import jobs
from components.shell.page.frame import open_page

library = open_page("Jobs")
jobs.show(library)
