// The large view: one coin with all its details; arrow keys show the next one.

import { el, setText } from "../../shell/js/elements.js";
import { ageOf, icon, showPicture } from "./dom.js";
import { breakdown } from "./bars.js";
import { copyButton } from "./copy.js";
import { twinsOf } from "./comparison.js";
import { PictureText } from "./picture_text.js";
import { isBlurred } from "../../shell/session/safe_mode.js";

const FACETS = [
  ["entity", "Entity"],
  ["context", "Context"],
  ["visual", "Visual"],
  ["emotions", "Emotions"],
];

const SCALES = [1, 1.5, 2, 3, 4, 6, 8];
const SWIPE = 60; // px a finger moves across to turn to the next coin

export class Viewer {
  constructor(grid) {
    this.grid = grid;
    this.picture = el("img", { alt: "", draggable: "false" });
    this.facts = el("div", { class: "facts" });
    this.verbs = el("div", { class: "verbs" });
    this.place = el("span", { class: "place" });
    this.pictureText = new PictureText(this);
    const before = el(
      "button",
      { type: "button", class: "turn before", "aria-label": "Previous coin", onclick: () => this.step(-1) },
      icon("back"),
    );
    const after = el(
      "button",
      { type: "button", class: "turn after", "aria-label": "Next coin", onclick: () => this.step(1) },
      icon("forward"),
    );
    const close = el(
      "button",
      { type: "button", class: "tool close", onclick: () => this.close() },
      "Close",
      el("kbd", {}, "esc"),
    );
    this.node = el(
      "dialog",
      { class: "viewer", tabindex: "-1", "aria-label": "Large view" },
      el("div", { class: "stage" }, before, el("div", { class: "frame" }, this.picture), after),
      el("div", { class: "side" }, el("div", { class: "top" }, this.place, close), this.facts, this.verbs),
    );
    this.node.addEventListener("cancel", (event) => (event.preventDefault(), this.close()));
    this.node.addEventListener("click", (event) => event.target === this.node && this.close());
    this.frame = this.picture.parentElement;
    this.picture.addEventListener(
      "click",
      (event) => this.panned || this.zoom(this.scale === 1 ? 2 : -SCALES.length, event),
    );
    this.picture.addEventListener("pointerdown", () => (this.panned = false));
    this.listenToSwipes();
    // Over the picture, the wheel zooms; elsewhere, it scrolls the details.
    this.frame.addEventListener(
      "wheel",
      (event) => (event.preventDefault(), this.zoom(event.deltaY < 0 ? 1 : -1, event)),
      { passive: false },
    );
    this.frame.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1 || this.scale === 1) return;
      this.panned ||= Math.abs(event.movementX) + Math.abs(event.movementY) > 1; // a drag is not a click
      this.frame.scrollBy(-event.movementX, -event.movementY);
    });
    this.setScale(1);
  }

  /** A finger that moves across the picture turns to the next coin or the one before; it decides nothing. */
  listenToSwipes() {
    let from = null;
    this.frame.addEventListener(
      "pointerdown",
      (event) => (from = event.pointerType === "touch" && event.isPrimary && this.scale === 1 ? event : null),
    );
    this.frame.addEventListener("pointercancel", () => (from = null));
    this.frame.addEventListener("pointerup", (event) => {
      if (!from || event.pointerId !== from.pointerId) return;
      const [x, y] = [event.clientX - from.clientX, event.clientY - from.clientY];
      from = null;
      if (Math.abs(x) < SWIPE || Math.abs(x) < 2 * Math.abs(y)) return;
      this.panned = true; // the click that follows does not zoom
      this.step(x < 0 ? 1 : -1);
    });
  }

  /** Zooms in or out around the mouse position, or the middle. */
  zoom(steps, { clientX, clientY } = {}) {
    const at = Math.min(SCALES.length - 1, Math.max(0, SCALES.indexOf(this.scale) + steps));
    const { frame, picture } = this;
    const box = frame.getBoundingClientRect();
    const [x, y] = clientX === undefined ? [box.width / 2, box.height / 2] : [clientX - box.left, clientY - box.top];
    const was = picture.getBoundingClientRect();
    const point = [(x + box.left - was.left) / was.width, (y + box.top - was.top) / was.height];
    this.setScale(SCALES[at]);
    const now = picture.getBoundingClientRect();
    frame.scrollBy(now.left + point[0] * now.width - box.left - x, now.top + point[1] * now.height - box.top - y);
  }

  setScale(scale) {
    this.scale = scale;
    this.node.classList.toggle("zoomed", scale > 1);
    this.node.style.setProperty("--zoom", scale);
  }

  get isOpen() {
    return this.node.open;
  }

  show(address) {
    if (!address || this.grid.model.card(address)?.blank) return;
    this.grid.model.moveTo(address);
    if (!this.node.open) {
      this.node.showModal();
      this.node.focus();
    }
    this.grid.refresh();
    this.grid.ask(address);
  }

  close() {
    this.grid.focus.close(this.node);
    this.setScale(1);
    this.grid.ask("");
    this.grid.refresh({ focus: true });
  }

  step(by) {
    const { model } = this.grid;
    const at = model.visible.indexOf(model.cursor) + by;
    if (model.visible[at]) this.show(model.visible[at]);
  }

  /** Shows the card under the cursor; details are added when the server sends them. */
  refresh() {
    const { model, data, actions } = this.grid;
    const card = model.card(model.cursor);
    if (!this.node.open) return;
    if (!card || !model.visible.length) return this.close();
    const detail = data.details?.[card.address];
    // Only a decision here may rebuild the view; a confirmation for another coin must not reset its scroll position.
    const made = JSON.stringify([
      card,
      detail,
      model.refused.get(card.address),
      model.isChosen(card.address),
      this.grid.ranking.weights,
      this.grid.flags?.get(card.address),
    ]);
    setText(this.place, `${model.visible.indexOf(card.address) + 1} of ${model.visible.length}`);
    if (this.made === made || (this.shown === card.address && this.pictureText.isEditing(card.address) && this.made))
      return;
    this.made = made;
    if (this.shown !== card.address) this.setScale(1);
    // A blurred one that was clicked stays.
    if (this.pictured !== card.large) showPicture(this.picture, (this.pictured = card.large ?? ""));
    this.picture.alt = `Picture of ${card.name}`;
    const scroll = this.shown === card.address ? this.facts.scrollTop : 0;
    this.shown = card.address;
    this.facts.replaceChildren(...facts(this.grid, card, detail, model, this.pictureText));
    this.facts.scrollTop = scroll;
    this.offer(actions);
  }

  /** Whether safe mode blurs the picture. */
  get isBlurred() {
    const { safe } = this.grid.data;
    return Boolean(safe) && isBlurred(this.picture.getAttribute("src"), safe);
  }

  /** Shows the picture that safe mode blurs, as a click on it does. */
  unblur() {
    this.picture.src += `&${this.grid.data.safe.shown}=1`;
    this.rebuild();
    this.node.focus();
  }

  /** Draws the open coin again, whether or not its data changed. */
  rebuild() {
    this.made = "";
    this.refresh();
  }

  /** Creates the buttons, once for each set of actions and keys: one that is pressed must not be exchanged. */
  offer(actions) {
    const offered = JSON.stringify(actions.map((action) => [action, this.grid.keyMap.label(action.key)]));
    if (this.offered === offered) return;
    this.offered = offered;
    const undo = () => this.grid.decisions.undoOrRedo("undo");
    this.verbs.replaceChildren(
      ...(this.grid.data.undoable
        ? [
            el(
              "button",
              {
                type: "button",
                class: "tool square",
                "aria-label": "Undo",
                onclick: (event) => this.grid.decisions.press(event, undo),
              },
              icon("undo"),
            ),
          ]
        : []),
      ...actions.map((action) =>
        el(
          "button",
          {
            type: "button",
            class: `verb ${action.tone}`,
            onclick: (event) => this.grid.decisions.press(event, () => this.grid.decisions.make(action)),
          },
          el("span", {}, action.label),
          el("kbd", {}, this.grid.keyMap.label(action.key)),
        ),
      ),
    );
  }
}

function facts(grid, card, detail, model, pictureText) {
  const description = detail?.description ?? card.description;
  const caption = detail?.caption ?? {};
  const reason = model.refused.get(card.address);
  return [
    el("h2", {}, el("span", { dir: "auto" }, card.name), el("span", { class: "ticker" }, card.ticker)),
    reason ? el("p", { class: "reason" }, reason) : null,
    el(
      "p",
      { class: "meta" },
      card.mark ? el("span", { class: `pill ${card.mark.tone}` }, card.mark.label) : null,
      born(card),
    ),
    description
      ? el("p", { class: "description", dir: "auto" }, description)
      : el("p", { class: "description none" }, "No description."),
    detail?.tags?.length || card.tags.length
      ? el("p", { class: "pills" }, ...(detail?.tags ?? card.tags).map((tag) => el("span", { class: "pill" }, tag)))
      : null,
    detail?.twins?.length ? section("Possible duplicates", twinsOf(grid, card.address, detail.twins)) : null,
    card.facets ? section("Why it is here", breakdown(grid, card)) : null,
    detail ? captions(caption) : null,
    detail?.text ? section("Text in the picture", pictureText.body(card, detail.text)) : null,
    detail ? screenFlag(grid, card, detail) : null,
    ...(detail?.fields ?? []).map(([label, value]) => section(label, el("p", { dir: "auto" }, value))),
    section(
      "Address",
      el("p", { class: "address" }, ...address(grid, card.address), detail?.explorer ? link(detail.explorer) : null),
    ),
    detail ? section("Mentions", el("p", {}, link(detail.mentions))) : null,
    detail?.history?.length
      ? section(
          "History",
          el(
            "ol",
            { class: "history" },
            ...detail.history.map((line) => el("li", {}, el("span", {}, line.what), el("time", {}, line.when))),
          ),
        )
      : null,
  ].filter(Boolean);
}

/** Why safe mode blurs this coin, and the buttons to say otherwise. */
function screenFlag(grid, card, { unfit, saysUnfit }) {
  const flag = grid.flags?.get(card.address);
  const why = flag ? (flag === "unfit" ? "flagged by a person" : "") : unfit;
  const button = (label, reason) =>
    el("button", { type: "button", class: "tool", onclick: () => grid.decisions.flag(card.address, reason) }, label);
  const shows = grid.viewer.isBlurred
    ? el("button", { type: "button", class: "tool", onclick: () => grid.viewer.unblur() }, "Show the picture")
    : null;
  const buttons = !grid.data.undoable
    ? []
    : [
        why ? button("It is fit", "fit") : button("Flag as unfit", "unfit"),
        saysUnfit || flag ? button("As recognised", "automatic") : null,
      ];
  return section(
    "Safe mode",
    el(
      "p",
      { class: "meta" },
      el("span", { class: "none" }, why ? `Unfit for the screen: ${why}` : "Fit for the screen"),
      shows,
      ...buttons,
    ),
  );
}

function address(grid, text) {
  const code = el("code", {}, text);
  return [
    code,
    copyButton(text, {
      what: "the address",
      marks: () => getSelection().selectAllChildren(code),
      says: (message) => grid.tools.say(message),
    }),
  ];
}

function born(card) {
  return el(
    "span",
    { title: card.created },
    card.no_age ? ageOf(card) : `${ageOf(card)} old`.replace("now old", "new"),
    ` · ${card.created}`,
  );
}

function captions(caption) {
  const written = FACETS.filter(([facet]) => caption[facet]);
  if (!written.length) return section("Caption", el("p", { class: "none" }, "Not written yet."));
  return el(
    "div",
    {},
    ...written.map(([facet, label]) => section(label, el("p", { dir: "auto" }, caption[facet]), facet)),
  );
}

function section(title, body, facet = null) {
  return el("section", { class: facet ? `facet ${facet}` : null }, el("h3", {}, title), body);
}

function link({ label, href }) {
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, label, icon("out"));
}
