// Tells the server that the theme was switched in the menu: Streamlit runs no script for it, and only passes the new
// colours to a component's styles. A changing colour is a transition, and its end is an event.

/** @param {import("../js/streamlit_page.js").Mount<null>} mount */
export default function ({ parentElement, setTriggerValue }) {
  const sample = /** @type {HTMLElement} */ (parentElement.querySelector(".memedex-theme"));
  sample.ontransitionend = () => setTriggerValue("switched", getComputedStyle(sample).color);
}
