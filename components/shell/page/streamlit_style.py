"""Elements of Streamlit's own: styles that its theme cannot give, and selectors for the tour."""

import streamlit as st

_HINT = "[data-testid=stFileUploaderDropzoneInstructions]"
_WRONG_FILE = "[data-testid=stFileChips] div:has(> [data-testid=stTooltipErrorHoverTarget])"


def upload(place: str, *, hint: str, error: str) -> str:
    """The style of the upload in this place, with CSS strings for its hint and for files of a wrong kind.

    A wrong file goes when a right one comes after it.
    """
    return f"""<style>
{place} {_HINT} > * {{display: none}}
{place} {_HINT}::after {{content: {hint}; font-size: .875rem; opacity: .75}}
{place} {_WRONG_FILE}:has(~ div > [data-testid=stFileChip]) {{display: none}}
{place} {_WRONG_FILE}::after {{content: {error}; font-size: .875rem}}
</style>"""


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
@media (max-width:640px) {{.st-key-{COUNTED} [role=radiogroup] {{flex-flow:row wrap; gap:.2rem 1rem}}}}
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
[data-testid=stSidebar] [class*=st-key-saved-view] a:not(:hover) {background:none}
[data-testid=stSidebar] [class*=st-key-saved-view] a * {font-weight:400}
[data-testid=stSidebar] [data-testid=stLayoutWrapper]:has(> .st-key-palette)
  {position:sticky; bottom:.75rem; margin-top:auto}
[data-testid=stSidebarUserContent], [data-testid=stSidebarUserContent] > div,
[data-testid=stSidebarUserContent] > div > [data-testid=stVerticalBlock]
  {display:flex; flex-direction:column; flex-grow:1}
[data-testid=stSidebarContent] {display:flex; flex-direction:column}
</style>"""

VIEWS = """<style>
.memedex-views {display:flex; flex-wrap:wrap; gap:.25rem 1.25rem;
  border-bottom:1px solid color-mix(in srgb, currentColor 16%, transparent)}
.memedex-views a {padding:.3rem 0; margin-bottom:-1px; border-bottom:2px solid transparent;
  color:inherit !important; text-decoration:none; opacity:.75}
.memedex-views a:hover {opacity:1}
.memedex-views a[aria-current] {opacity:1; font-weight:600; border-color:currentColor}
@media (max-width:640px) {.memedex-views {flex-wrap:nowrap; overflow-x:auto; white-space:nowrap}}
.memedex-views small {font-variant-numeric:tabular-nums; opacity:.75}
</style>"""

ROW_OF_VIEWS = "memedex-row-of-views"  # the key of a row of views and what acts on all of them

VIEWS_ROW = f"""<style>
.st-key-{ROW_OF_VIEWS} > :has(.memedex-views) {{flex:0 0 auto; width:auto}}
.st-key-{ROW_OF_VIEWS} .memedex-views {{border:0; flex-wrap:nowrap; padding-right:.5rem}}
@media (max-width:640px) {{.st-key-{ROW_OF_VIEWS} > :has(.memedex-views) {{flex-basis:100%}}}}
</style>"""

SIDE_BY_SIDE = "memedex-side-by-side"  # … of columns that lie below one another where there is no room
BAR = "memedex-bar"  # the key of the row above a grid: line, filter, order, tools
TOOLS = "memedex-tools"  # … of the grid's tools in it
PAGES = "memedex-pages"  # … and of the numbers of the pages, below the cards

# The page makes room for the panel of a coin (components/grid/panel.css), and for that of the tour.
PANEL = """<style>
@media (min-width: 1000px) {html:is([data-coin], [data-tour]) [data-testid=stMain] {padding-right: 384px}}
@media (max-width: 999px) {html[data-tour] [data-testid=stMain] {padding-bottom: 50vh}}
</style>"""

UNDO = "memedex-undo"  # the key of the message that takes back what the page has just done
LATER_UNDO = "memedex-later-undo"  # … of its buttons while there is no message

UNDO_MESSAGE = f"""<style>
.st-key-{LATER_UNDO}:not(:focus-within) {{position:absolute; width:1px; height:1px; overflow:hidden;
  clip-path:inset(50%)}}
.st-key-{UNDO}, .st-key-{LATER_UNDO}:focus-within {{position:fixed; z-index:96; inset:auto 0 22px;
  width:fit-content; max-width:min(720px, 90vw); margin:0 auto; padding:7px 16px; border-radius:17px;
  border:1px solid {colour("borderColor")}; background:{colour("secondaryBackgroundColor")};
  box-shadow:0 6px 24px rgb(0 0 0 / .28)}}
</style>"""

# A page whose cards are all of it: no margins, no header, one row that sticks, in the colour of the page
# (.streamlit/config.toml). Its name is in the navigation.
# The first row of a page lies beside Streamlit's own buttons, not below them.
PAGE = """<style>
[data-testid=stMainBlockContainer] {padding: 6px 28px 48px}
[data-testid=stHeader] {height: 0; min-height: 0; align-items: flex-start; background: none; z-index: 95}
[data-testid=stToolbar] {height: 54px; background: none; pointer-events: none}
[data-testid=stToolbar] :is(button, a) {pointer-events: auto}
[data-testid=stHeader] :is([data-testid=stLogoLink], [data-testid=stHeaderLogo]) {display: none}
[data-testid=stExpandSidebarButton] {position: fixed; top: 14px; left: 10px}
.st-key-memedex-header {min-height: 42px; padding-right: 36px}
.stApp:has([data-testid=stExpandSidebarButton]) .st-key-memedex-header {padding-left: 26px}
@media (max-width: 900px) {
.st-key-memedex-side-by-side [data-testid=stHorizontalBlock]:has(> [data-testid=stColumn]) {
  flex-direction: column}
.st-key-memedex-side-by-side [data-testid=stColumn] {width: 100%; flex: 1 1 auto}
}
@media (max-width: 620px) {
[data-testid=stMainBlockContainer] {padding: 6px 14px 48px}
.st-key-memedex-header {row-gap: 0}
.st-key-memedex-header > :has([data-testid=stCaptionContainer]) {flex-basis: 100%; order: 1}
}
</style>"""

GRID_PAGE = """<style>
[data-testid=stMainBlockContainer] {padding: 0 12px 12px}
[data-testid=stMainBlockContainer] > [data-testid=stVerticalBlock] {gap: 0}
[data-testid=stHeader] {height: 0; min-height: 0; align-items: flex-start; background: none; z-index: 95}
[data-testid=stToolbar] {height: 54px; background: none; pointer-events: none}
[data-testid=stToolbar] button {pointer-events: auto}
[data-testid=stHeader] [data-testid=stMainMenu] {visibility: hidden}
[data-testid=stHeader] [data-testid=stLogoLink] {display: none}
:is([data-testid=stMain] h1, [data-testid=stHorizontalBlock]:has(h1) [data-testid=stCaptionContainer]) {
  position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%)}
[data-testid=stLayoutWrapper]:has(> .st-key-memedex-bar) {position: sticky; top: 0; z-index: 90; width:
  calc(100% + 24px); max-width: none; margin: 0 -12px}
.st-key-memedex-bar {flex-wrap: nowrap; gap: 8px; padding: 8px 12px; background: light-dark(#fcfcfe,
  #0d0e13)}
.st-key-memedex-bar > * {min-width: 0}
.st-key-memedex-bar > :is([class*=_words], .st-key-q) {flex: 0 1 290px}
.st-key-memedex-bar > [class*=_sort] {flex: 0 1 auto}
.st-key-memedex-bar > :has(.memedex-views) {flex: 0 0 auto; width: auto}
.st-key-memedex-bar .memedex-views {flex-wrap: nowrap; border: 0}
.st-key-memedex-tools {flex: 1 1 0 !important; min-width: 44px !important}
[data-testid=stLayoutWrapper]:has(> .st-key-memedex-pages) {order: 1; align-items: center; margin-top: 16px}
.stApp:has([data-testid=stExpandSidebarButton]) :is(.st-key-memedex-bar,
  :not(.st-key-memedex-bar *) > .memedex-views) {padding-left: 46px}
[data-testid=stExpandSidebarButton] {position: fixed; top: 14px; left: 10px}
@media (max-width: 1400px) {
.st-key-memedex-bar:has(.st-key-search-well) {flex-wrap: wrap}
.st-key-memedex-bar:has(.st-key-search-well) .st-key-memedex-tools {flex-basis: 100% !important}
}
@media (min-width: 621px) and (max-width: 900px) {
.st-key-memedex-bar {flex-wrap: wrap}
.st-key-memedex-bar > [class*=_words] {flex: 1 1 160px}
.st-key-memedex-bar .st-key-memedex-tools {flex-basis: 100% !important}
}
@media (max-width: 620px) {
.st-key-memedex-bar {flex-wrap: wrap}
.st-key-memedex-bar > :has(.memedex-views) {flex-basis: 100%}
.st-key-memedex-bar > :is([class*=_words], .st-key-q) {flex: 1 1 120px}
.st-key-memedex-bar > [class*=_sort] {flex: 0 1 112px}
.st-key-memedex-bar [data-testid=stPopoverButton] [data-testid=stMarkdownContainer] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
.st-key-memedex-bar > :has(> .st-key-search-well) {flex: 0 0 40px; width: 40px}
.st-key-memedex-bar .st-key-memedex-tools {flex: 0 0 0 !important; min-width: 0 !important; margin-left: -8px}
}
</style>"""
