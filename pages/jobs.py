"""Long work: what runs, what rests and can be continued, what is over, and what was refused and why."""

from components import job_list
from components.frame import open_page

library = open_page("Jobs")
job_list.show(library)
