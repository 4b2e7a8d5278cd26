// The bar above the cards: what can be done, to how many, with which key; and what just happened.

import { count, el, icon, setText } from "./dom.js";

const SIZES = [["S", 120, "Small cards"], ["M", 168, "Medium cards"], ["L", 248, "Large cards"]];

export class Tools {
  constructor(grid) {
    this.grid = grid;
    this.chosen = el("span", { class: "chosen-count" });
    this.verbs = el("span", { class: "verbs" });
    this.sentence = el("span", { class: "sentence" });
    this.said = el("span", { class: "said", role: "status", "aria-live": "polite" });
    this.all = tool("All", "ctrl a", "Select all on this page", () => grid.selectPage());
    this.everything = tool("", "shift a", "Select all that match, on every page", () => grid.selectEverything());
    this.none = el("button", { type: "button", class: "tool square", title: "Clear the selection (esc)", "aria-label": "Clear the selection", onclick: () => grid.clear() }, icon("cross"));
    this.back = el("button", { type: "button", class: "tool", onclick: () => grid.bringBack() });
    this.undo = el("button", { type: "button", class: "tool square", title: "Undo (z)", "aria-label": "Undo", onclick: () => grid.decisions.takeBack("undo") }, icon("undo"));
    this.redo = el("button", { type: "button", class: "tool square", title: "Redo (shift z)", "aria-label": "Redo", onclick: () => grid.decisions.takeBack("redo") }, icon("redo"));
    this.sizes = el("span", { class: "sizes", role: "group", "aria-label": "Card size" });
    for (const [label, size, title] of SIZES) {
      this.sizes.append(el("button", { type: "button", title, "aria-label": title, "data-size": size, onclick: () => grid.resize(size) }, label));
    }
    const help = el("button", { type: "button", class: "tool square", title: "Keys (?)", "aria-label": "Keys", onclick: () => grid.help.showModal() }, "?");
    this.node = el(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "What to do" },
      this.verbs,
      el("span", { class: "picking" }, this.chosen, this.none, this.back, this.all, this.everything),
      this.said,
      el("span", { class: "right" }, this.sentence, this.undo, this.redo, this.sizes, help),
    );
  }

  /** Makes the verbs' buttons, once for each set of actions. */
  offer(actions, { undoable, sentence }) {
    setText(this.sentence, sentence ?? "");
    const made = JSON.stringify(actions);
    this.undo.hidden = this.redo.hidden = !undoable;
    if (this.made === made) return;
    this.made = made;
    this.buttons = actions.map((action) => {
      const label = el("span");
      const button = el("button", { type: "button", class: `verb ${action.tone}`, "data-verb": action.verb, onclick: () => this.grid.decisions.make(action) }, label, el("kbd", {}, action.key));
      return { action, button, label };
    });
    this.verbs.replaceChildren(...this.buttons.map(({ button }) => button));
  }

  refresh(model) {
    const size = model.chosenCount;
    const matching = this.grid.data?.matching;
    const elsewhere = [...model.selection.keys()].filter((address) => !model.visible.includes(address)).length;
    for (const { action, button, label } of this.buttons ?? []) {
      setText(label, size > 1 && !action.single ? `${action.label} ${size.toLocaleString("en")}` : action.label);
      button.disabled = !model.targets(action).length;
    }
    if (model.everything) setText(this.chosen, `${model.everything.except.length ? "" : "All "}${size.toLocaleString("en")} that match selected`);
    else setText(this.chosen, size ? `${size.toLocaleString("en")} selected${elsewhere ? `, ${elsewhere.toLocaleString("en")} not on this page` : ""}` : "");
    this.none.hidden = !size;
    this.all.hidden = !model.visible.length || model.visible.every((address) => model.isChosen(address));
    this.everything.hidden = !this.grid.offersEverything;
    if (matching) setText(this.everything.firstChild, `All ${matching.count.toLocaleString("en")} that match`);
    this.back.hidden = Boolean(size) || !model.cleared;
    if (model.cleared) setText(this.back, `Bring back ${count(model.cleared.size, "selected coin")}`);
    for (const button of this.sizes.children) button.setAttribute("aria-pressed", String(Number(button.dataset.size) === this.grid.size));
  }

  /** Says what happened, for eyes and for screen readers. */
  say(text, tone = "") {
    setText(this.said, text);
    this.said.dataset.tone = tone;
  }
}

function tool(label, key, title, onclick) {
  return el("button", { type: "button", class: "tool", title, onclick }, label, el("kbd", {}, key));
}
