// The reasons of an action, in a menu for mouse and touch; the digits do the same.

import { el } from "../../shell/js/elements.js";

export class Reasons {
  constructor(grid, action) {
    this.menu = el("div", { class: "menu", popover: "auto", onclick: () => this.menu.hidePopover() });
    this.opener = el(
      "button",
      {
        type: "button",
        class: `verb ${action.tone} opener`,
        title: `${action.label} with a reason`,
        "aria-label": `${action.label} with a reason`,
      },
      "▾",
    );
    this.opener.popoverTargetElement = this.menu;
    this.menu.addEventListener("beforetoggle", () => placeBelow(this.menu, this.opener));
    this.menu.append(
      ...action.reasons.map((reason, at) =>
        el(
          "button",
          {
            type: "button",
            class: "tool",
            onclick: (event) => grid.decisions.press(event, () => grid.decisions.make(action, { reason })),
          },
          reason,
          el("kbd", {}, grid.keyMap.label(String(at + 1))),
        ),
      ),
    );
  }
}

/**
 * Puts a menu below its button, or above it in the lower half of the window, in line with its edge that is nearer to
 * the edge of the window.
 */
export function placeBelow(menu, button) {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const isLeft = left + right < clientWidth;
  const isLow = top + bottom > clientHeight;
  Object.assign(menu.style, {
    top: isLow ? "auto" : `${bottom + 6}px`,
    bottom: isLow ? `${clientHeight - top + 6}px` : "auto",
    right: isLeft ? "auto" : `${clientWidth - right}px`,
    left: isLeft ? `${left}px` : "auto",
  });
}
