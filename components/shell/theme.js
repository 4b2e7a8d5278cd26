// Tells the server that the theme was switched in the menu: Streamlit runs no script for it, and hands a component's
// styles the new colours only. A colour that changes is a transition, whose end is an event.

export default function ({ parentElement, setTriggerValue }) {
  const sample = parentElement.querySelector(".memedex-theme");
  sample.ontransitionend = () => setTriggerValue("switched", getComputedStyle(sample).color);
}
