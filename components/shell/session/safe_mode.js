// The switches for safe mode and for presenting, and the click that shows a blurred picture. The server blurs; a
// clicked picture is asked for once more with another address.

import { isBlurred } from "../js/blurred.js";

let isListening = false;

export default function ({ data, parentElement }) {
  parentElement.querySelector(".memedex-safe").replaceChildren(...data.switches.map(button));
  if (data.isOn && !isListening) listen(data);
}

function button({ label, title, parameter, isOn }) {
  const made = document.createElement("button");
  made.type = "button";
  made.setAttribute("role", "switch");
  made.setAttribute("aria-checked", String(isOn));
  made.title = title;
  made.textContent = label;
  made.onclick = () => {
    const address = new URL(location.href);
    address.searchParams.set(parameter, isOn ? "0" : "1");
    location.assign(address);
  };
  return made;
}

function listen({ mark, shown }) {
  isListening = true;
  document.addEventListener(
    "click",
    (event) => {
      const picture = pictureAt(
        { clientX: event.clientX, clientY: event.clientY, composedPath: event.composedPath() },
        (source) => isBlurred(source, mark, shown),
      );
      if (!picture) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      picture.src = `${picture.getAttribute("src")}&${shown}=1`;
    },
    true,
  );
}

/** The picture under the pointer, also below a card's captions; undefined without one that `counts`. */
function pictureAt({ clientX: x, clientY: y, composedPath: [target] }, counts) {
  if (!(target instanceof Element) || target.closest("button, a, [role=button], [role=checkbox]")) return undefined;
  return [...target.getRootNode().querySelectorAll("img")].find((picture) => {
    const { left, right, top, bottom } = picture.getBoundingClientRect();
    const isHit = left <= x && x <= right && top <= y && y <= bottom;
    return isHit && counts(picture.getAttribute("src")) && picture.closest("dialog") === target.closest("dialog");
  });
}
