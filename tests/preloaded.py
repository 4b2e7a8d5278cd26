"""The last import of a process that others are forked from."""

import gc
import os
import warnings

import streamlit.delta_generator
from PIL import Image

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # as the program sets it before this import
with warnings.catch_warnings(action="ignore"):
    import litellm  # noqa: F401  three seconds, for each dashboard that asks a language model

Image.init()  # imports a module for each of some forty formats
# Else the first element of a server looks through the sources of all modules for whether this is a notebook.
streamlit.delta_generator._use_warning_has_been_displayed = True
gc.collect()
gc.freeze()  # so that collections in the forked processes neither look at nor copy what was imported
