"""Elements of Streamlit's own: styles that its theme cannot give, and selectors for the tour."""

import streamlit as st

CODE_OR_START = "[data-testid=stCode], button.primary"  # the latter is a form's, where nothing is there yet
UPLOAD_HINT = "[data-testid=stFileUploaderDropzoneInstructions]"


def colour(name: str) -> str:
    """A colour of both themes for markup of our own, by the name of its option."""
    light, dark = (st.get_option(f"theme.{theme}.{name}") for theme in ("light", "dark"))
    return f"light-dark({light}, {dark})"


DECISION = "memedex-decision"  # how the keys of History's lines begin
NEWEST_DECISION = f"[class*=st-key-{DECISION}]"

COUNTED = "memedex-tree"  # the key of a container in which the count of each choice stands beside its name

COUNTS = f"""<style>
.st-key-{COUNTED} [role=radiogroup] > div {{flex-direction:row; align-items:center; gap:.5rem}}
.st-key-{COUNTED} [data-testid=stRadioCaption] {{padding:0; margin:0}}
</style>"""

# White on the dark theme's accent has 3.7:1, here 4.9:1; as text, the accent needs to be as bright as it is.
# On the tint of a chosen button that is pointed at, the accent itself has 4.1:1 in the dark.
BUTTONS = """<style>
[data-testid=stBaseButton-primary] {background-image: linear-gradient(rgb(0 0 0 / 0.15), rgb(0 0 0 / 0.15))}
[data-variant][data-selected=true]:hover p {color: color-mix(in srgb, currentColor 80%, canvastext)}
</style>"""

# The count of a place is quiet text at the right of its line.
SIDEBAR = """<style>
[data-testid=stSidebar] [class*=st-key-places] {gap:.8rem; padding-bottom:.6rem}
[data-testid=stSidebar] [data-testid=stPageLink] :is(a > span, [data-testid=stMarkdownContainer]) {width:100%}
[data-testid=stSidebar] [data-testid=stPageLink] p {display:flex; justify-content:space-between; gap:.5rem}
[data-testid=stSidebar] [data-testid=stPageLink] p span {font-variant-numeric:tabular-nums}
[data-testid=stSidebar] [class*=st-key-saved-view] {padding-left:.75rem}
</style>"""

VIEWS = """<style>
.memedex-views {display:flex; flex-wrap:wrap; gap:.25rem 1.25rem;
  border-bottom:1px solid color-mix(in srgb, currentColor 16%, transparent)}
.memedex-views a {padding:.3rem 0; margin-bottom:-1px; border-bottom:2px solid transparent;
  color:inherit !important; text-decoration:none; opacity:.75}
.memedex-views a:hover {opacity:1}
.memedex-views a[aria-current] {opacity:1; font-weight:600; border-color:currentColor}
.memedex-views small {font-variant-numeric:tabular-nums; opacity:.75}
</style>"""
