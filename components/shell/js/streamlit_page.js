// All that is read of Streamlit's own page: nothing else in this program knows its test ids.
// `tests/browser/test_streamlit_page.py` finds out when another version of Streamlit has other ones.

/**
 * What Streamlit hands to a component with each run of the page.
 *
 * @template Data
 * @typedef {{
 *   data: Data,
 *   parentElement: HTMLElement | ShadowRoot,
 *   setTriggerValue: (name: string, value: unknown) => void,
 *   setStateValue: (name: string, value: unknown) => void,
 * }} Mount
 */

let lastSent = -Infinity;

/** Begins to notice what the page sends to the server; returns how to stop. */
export function watchSending() {
  const { send } = WebSocket.prototype;
  /** @param {Parameters<WebSocket["send"]>} message */
  WebSocket.prototype.send = function (...message) {
    lastSent = performance.now();
    return send.apply(this, message);
  };
  return () => (WebSocket.prototype.send = send);
}

/** When the page sent something last, as `performance.now()` has it. */
export function sentAt() {
  return lastSent;
}

/** What covers the page while it is open. A message in a manual popover covers nothing. */
export const COVERS =
  "[role=dialog], dialog[open], [data-testid=stPopoverBody], [role=listbox], [role=menu], [popover=auto]:popover-open";

/** A field whose text is sent once it loses the focus. One of a form is sent with the form. */
export const FIELD = ["stTextInput", "stTextArea", "stNumberInput"]
  .map((id) => `[data-testid=${id}] :is(input, textarea):not([data-testid=stForm] *)`)
  .join();

/** An icon of Streamlit's font, whose text is its name. */
export const ICON = "[data-testid=stIconMaterial]";

const UPLOAD = "[data-testid=stFileUploaderDropzone]";

/** A link of `st.page_link`; not one of the sidebar. */
export const PAGE_LINK = "[data-testid=stPageLink] a[href]";

/** A link in markup of our own, which Streamlit would open as another website. */
export const OWN_LINK = "a.memedex-link[href]";

/**
 * Goes to an address of the app, as a click on such a link does.
 *
 * @param {string} href
 */
export function follow(href) {
  let link = document.querySelector("a.memedex-link[hidden]");
  if (!(link instanceof HTMLAnchorElement)) {
    link = document.createElement("a");
    document.body.append(link);
    Object.assign(link, { className: "memedex-link", hidden: true });
  }
  link.setAttribute("href", href);
  if (link instanceof HTMLAnchorElement) link.click();
}

/** Whether the server works for this page. */
export function isAtWork() {
  const state = document.querySelector("[data-testid=stApp]")?.getAttribute("data-test-script-state");
  return state === "running" || state === "rerunRequested";
}

/** The height of the header, which lies over the page, in px. */
export function headerHeight() {
  return document.querySelector("[data-testid=stHeader]")?.getBoundingClientRect().height ?? 0;
}

/** Where the page begins beside the sidebar, in px. */
export function mainLeft() {
  return document.querySelector("[data-testid=stMain]")?.getBoundingClientRect().left ?? 0;
}

/** Opens the menu with the theme. */
export function openMainMenu() {
  const opener = document.querySelector("[data-testid=stMainMenuButton]");
  if (opener instanceof HTMLElement) opener.click();
}

/** Scrolls the page to its top at once. */
export function scrollToTop() {
  document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
}

/**
 * Whether a file that is dragged is over one of Streamlit's own fields for files.
 *
 * @param {Event} event
 */
export function isOverUpload(event) {
  return event.composedPath().some((node) => node instanceof Element && node.matches(UPLOAD));
}

/**
 * The field of the widget with this key of its script.
 *
 * @param {string} key
 * @returns {HTMLInputElement | null}
 */
export function fieldOfKey(key) {
  return document.querySelector(`.st-key-${CSS.escape(key)} input`);
}
