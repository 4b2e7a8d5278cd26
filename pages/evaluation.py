"""Search quality: golden queries with every setting, with confidence intervals."""

from components.search import evaluation
from components.shell.page.frame import open_page

library = open_page("Evaluation")
evaluation.show(library)
