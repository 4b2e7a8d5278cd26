// The place of the search page for a picture: one that is chosen, dropped anywhere on the page, or pasted.

import { part } from "../shell/js/elements.js";
import { isLeaving } from "../shell/js/hand.js";
import { isOverUpload } from "../shell/js/streamlit_page.js";

/** @import { Mount } from "../shell/js/streamlit_page.js" */

const HINT = "Drop or paste a picture";
const MOST = 8_000_000; // bytes

/** @type {WeakMap<Node, () => void>} how to stop listening, by component */
const stops = new WeakMap();

/** @param {File} file */
const asText = (file) =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });

/** @param {DataTransfer | null} transfer */
function firstOf(transfer) {
  const files = [...(transfer?.files ?? [])];
  return files.find((file) => file.type.startsWith("image/")) ?? files[0];
}

/** @param {Mount<null>} mount */
export default function ({ parentElement, setTriggerValue }) {
  const well = part(parentElement, ".well", HTMLElement);
  const input = part(parentElement, "input", HTMLInputElement);
  const hint = part(parentElement, ".hint", HTMLElement);
  stops.get(parentElement)?.();

  const say = (/** @type {string} */ text, wrong = false) => {
    hint.textContent = text;
    hint.classList.toggle("wrong", wrong);
  };
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    if (!file.type.startsWith("image/")) return say("That is not a picture", true);
    if (!file.size) return say("That file is empty", true);
    if (file.size > MOST) return say("Pictures up to 8 MB, please", true);
    // A trigger, not a state: the megabytes are sent once, not with every change of the page.
    const picture = await asText(file);
    say(HINT); // a wrong file's error goes
    if (!isLeaving()) setTriggerValue("picture", picture); // it would call this page back
  };
  const chosen = () => {
    take(input.files?.[0]);
    input.value = "";
  };
  input.onchange = chosen;
  well.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    input.click();
  };

  const pasted = (/** @type {ClipboardEvent} */ event) => {
    // Cells of a table are copied as a picture as well.
    const isText = event.clipboardData?.types.includes("text/plain");
    const [target] = event.composedPath();
    if (isText && target instanceof Element && target.matches("input, textarea, [contenteditable]")) return;
    const file = firstOf(event.clipboardData);
    if (!file) return;
    event.preventDefault();
    take(file);
  };
  // On the whole page: the browser would open a picture that is dropped outside the field.
  const isForOthers = (/** @type {DragEvent} */ event) =>
    !event.dataTransfer?.types.includes("Files") || isOverUpload(event);
  const over = (/** @type {DragEvent} */ event) => {
    if (isForOthers(event)) return;
    event.preventDefault();
    well.classList.add("over");
  };
  const left = (/** @type {DragEvent} */ event) => {
    if (!event.relatedTarget) well.classList.remove("over");
  };
  const dropped = (/** @type {DragEvent} */ event) => {
    if (isForOthers(event)) return;
    event.preventDefault();
    well.classList.remove("over");
    take(firstOf(event.dataTransfer));
  };
  const listening = new AbortController();
  const options = { signal: listening.signal };
  document.addEventListener("paste", pasted, options);
  document.addEventListener("dragover", over, options);
  document.addEventListener("dragleave", left, options);
  document.addEventListener("drop", dropped, options);
  const stop = () => listening.abort();
  stops.set(parentElement, stop);
  say(HINT);
  if (input.files?.length) chosen(); // before this script had loaded
  return stop;
}
