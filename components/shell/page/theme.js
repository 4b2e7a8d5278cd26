// Tells the server that the theme was switched in the menu: Streamlit runs no script for it, and only passes the new
// colours to a component's styles. A changing colour is a transition, and its end is an event.

export default function ({ parentElement, setTriggerValue }) {
  const sample = parentElement.querySelector(".memedex-theme");
  sample.ontransitionend = () => setTriggerValue("switched", getComputedStyle(sample).color);
}
