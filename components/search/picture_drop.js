import { isLeaving } from "../shell/js/hand.js";
import { isOverUpload } from "../shell/js/streamlit_page.js";

const MOST = 8000000;
const asText = (file) =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });

export default function ({ parentElement, setTriggerValue }) {
  const find = (name) => parentElement.querySelector(name);
  const well = find(".well"),
    input = find("input"),
    hint = find(".hint");
  parentElement.memedex?.();

  const say = (text, wrong = false) => {
    hint.textContent = text;
    hint.classList.toggle("wrong", wrong);
  };
  const take = async (file) => {
    if (!file) return;
    if (!file.type.startsWith("image/")) return say("That is not a picture", true);
    if (!file.size) return say("That file is empty", true);
    if (file.size > MOST) return say("Pictures up to 8 MB, please", true);
    // A trigger, not a state: the megabytes are sent once, not with every change of the page.
    const picture = await asText(file);
    if (!isLeaving()) setTriggerValue("picture", picture); // it would call this page back
  };
  const first = (transfer) =>
    [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/")) ?? transfer?.files?.[0];
  const pasted = (event) => {
    // Cells of a table are copied as a picture as well.
    const isText = event.clipboardData?.types.includes("text/plain");
    if (isText && event.composedPath()[0].matches?.("input, textarea, [contenteditable]")) return;
    const file = first(event.clipboardData);
    if (file) {
      event.preventDefault();
      take(file);
    }
  };

  const chosen = () => {
    take(input.files[0]);
    input.value = "";
  };
  input.onchange = chosen;
  well.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      input.click();
    }
  };
  // On the whole page: the browser would open a picture that is dropped outside the field.
  const others = (event) => !event.dataTransfer?.types.includes("Files") || isOverUpload(event);
  const over = (event) => {
    if (!others(event)) {
      event.preventDefault();
      well.classList.add("over");
    }
  };
  const left = (event) => {
    if (!event.relatedTarget) well.classList.remove("over");
  };
  const dropped = (event) => {
    if (!others(event)) {
      event.preventDefault();
      well.classList.remove("over");
      take(first(event.dataTransfer));
    }
  };
  const listeners = { paste: pasted, dragover: over, dragleave: left, drop: dropped };
  for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener);
  parentElement.memedex = () =>
    Object.entries(listeners).forEach(([name, listener]) => document.removeEventListener(name, listener));
  say("Drop or paste a picture");
  if (input.files.length) chosen(); // before this script had loaded
  return parentElement.memedex;
}
