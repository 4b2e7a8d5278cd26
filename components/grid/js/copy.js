// A button that copies a text. Over plain HTTP a browser offers no clipboard: then the text is marked, to be copied by
// hand.

import { el } from "../../shell/js/elements.js";

export function copyButton(text, { what, marks, says }) {
  return el(
    "button",
    {
      type: "button",
      class: "tool",
      "aria-label": `Copy ${what}`,
      onclick: async () => says(await copied(text, { marks })),
    },
    "Copy",
  );
}

/** Copies a text, or marks it; what to say of it. */
export async function copied(text, { marks, clipboard = globalThis.navigator?.clipboard }) {
  try {
    await clipboard.writeText(text);
    return "Copied";
  } catch {
    marks();
    return "This browser allows no copying here: the text is marked for Ctrl-C";
  }
}
