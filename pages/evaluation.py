"""How good the search is: golden queries asked with every setting, in numbers with their certainty."""

from components import evaluation_view
from components.frame import open_page

library = open_page("Evaluation")
evaluation_view.show(library)
