"""Streamlit reads the metadata of every installed package when a server starts and at each run of an AppTest.

That takes longer than most pages. The installed packages do not change during a run, so read them once.
"""

from functools import cache

from streamlit.components.v2 import manifest_scanner

manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
manifest_scanner.scan_component_manifests()
