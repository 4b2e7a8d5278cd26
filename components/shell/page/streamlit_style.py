"""Elements of Streamlit's own: styles that its theme cannot give, and selectors for the tour."""

CODE_OR_START = "[data-testid=stCode], button.primary"  # the latter is a form's, where nothing is there yet
UPLOAD_HINT = "[data-testid=stFileUploaderDropzoneInstructions]"

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


def current_entry(page: str) -> str:
    """Show the sidebar's link to this page as Streamlit shows the link to the page that is open."""
    link = f'[data-testid=stSidebar] a[href$="{page}"]'
    return f"""<style>
{link} {{background-color: light-dark(rgb(141 148 191 / 0.15), rgb(157 165 190 / 0.15))}}
{link} p {{font-weight: 600}}
</style>"""
