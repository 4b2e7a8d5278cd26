// See keeper.py.

const PAUSE = 900; // ms

const commit = (area) => area.dispatchEvent(
  new KeyboardEvent("keydown", { key: "Enter", code: "Enter", ctrlKey: true, bubbles: true, cancelable: true })
);

export default function ({ data, parentElement }) {
  const own = parentElement;
  own.memedex?.();
  const form = () => document.querySelector(`.st-key-${data.form}`);
  const isOurs = (area) => area instanceof HTMLTextAreaElement && form()?.contains(area);
  let timer = 0;

  const keepSoon = (area) => {
    if (!isOurs(area)) return;
    clearTimeout(timer);
    timer = setTimeout(() => commit(area), PAUSE);
  };
  const typed = (event) => keepSoon(event.target);
  const pressed = (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || !form()) return;
    event.preventDefault();  // the browser would offer to save the page
    event.stopImmediatePropagation();
    if (isOurs(document.activeElement)) commit(document.activeElement);
    clearTimeout(timer);
    setTimeout(() => document.querySelector(`.st-key-${data.save} button:not([disabled])`)?.click(), 0);
  };
  document.addEventListener("input", typed, true);
  document.addEventListener("keydown", pressed, true);
  keepSoon(document.activeElement);  // typed before this began to listen, or while the page ran anew
  own.memedex = () => {
    clearTimeout(timer);
    document.removeEventListener("input", typed, true);
    document.removeEventListener("keydown", pressed, true);
  };
  return own.memedex;
}
