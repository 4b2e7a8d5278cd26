// A form that sends itself: drawn from the page's data, kept while runs of the page draw it again.

import { el, fill, part, setAttribute, setText, shortcut, symbol } from "./elements.js";
import { isBusy, isLeaving, undecided } from "./hand.js";
import { Sending } from "./sending.js";
import { keptInTab } from "./storage.js";

/** @import { Data, Value } from "./sending.js" */
/** @import { Mount } from "./streamlit_page.js" */

/**
 * A field as `Field` of components/shell/page/forms.py declares it.
 *
 * @typedef {{
 *   name: string,
 *   label: string,
 *   kind: "line" | "text" | "tags" | "number",
 *   value: Value,
 *   placeholder: string,
 *   help: string,
 *   longest: number,
 *   required: boolean,
 *   least: number,
 *   most: number | null,
 *   height: number,
 *   choices: string[],
 *   is_labelled: boolean,
 * }} Field
 */
/** @typedef {{label: string, icon: string, kind: string, help: string, disabled: boolean, key: string}} Button */
/** @typedef {Data & {place: string, fields: Field[], button: Button, second: Button | null, row: boolean}} FormData */
/** @typedef {{read: () => Value, show: (value: Value) => void, lock: (isLocked: boolean) => void}} Access */
/** @typedef {Access & {input: HTMLInputElement | HTMLTextAreaElement, nodes: HTMLElement[]}} Made */
/** @typedef {(value: Value) => void} Typed is called with what a person types */

const REMEMBERED = 10_000; // ms for which what was typed outlives its form: overlapping runs drop and draw it again
const PATIENT = 5000; // ms to wait until the server works no more, before a run is asked for
const SLOW = 60_000; // ms to wait for a run that a press is about
const LOOK = 100;

/** @type {Map<string, Sending>} by library, person and form */
const sendings = new Map();
/** @type {WeakMap<HTMLElement, Form>} */
const open = new WeakMap();

class Form {
  /** @type {ReturnType<typeof drawn>[]} */
  fields = [];
  outline = "";

  /** @param {HTMLElement} root @param {FormData} data */
  constructor(root, data) {
    this.name = `memedex.form ${data.place} ${data.form}`;
    this.data = data;
    this.sending =
      sendings.get(this.name) ??
      new Sending({ store: keptInTab(this.name), changed: () => {}, rest: () => atRest(SLOW) });
    sendings.set(this.name, this.sending);
    clearTimeout(this.sending.left);
    this.sending.changed = () => this.draw();
    this.icon = symbol("");
    this.label = el("span");
    // These two stay in the document: the browser drops a click on a button that is replaced while it is pressed.
    this.key = el("kbd", { "aria-hidden": "true" });
    this.button = el("button", { type: "submit" }, this.icon, this.label, this.key);
    this.second = el("button", { type: "button", onclick: () => this.send({ then: this.second.textContent }) });
    this.error = el("div", { class: "error", role: "alert" });
    this.node = el("form", {
      class: "form",
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        this.send();
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send();
        if (event.key !== "Escape") event.stopPropagation(); // Streamlit and the grid have keys of their own
      },
    });
    root.replaceChildren(this.node);
  }

  /** @param {FormData} data @param {() => void} ask */
  update(data, ask) {
    // A refusal is about what the page showed, as the files that were chosen.
    if (data.button.label !== this.data.button.label && !this.sending.request) this.sending.error = "";
    this.data = data;
    const outline = JSON.stringify(data.fields.map((field) => ({ ...field, value: null })));
    if (outline !== this.outline) this.build(data);
    this.outline = outline;
    this.sending.take(data, () => whenAtRest(ask));
    this.draw();
  }

  /** @param {FormData} data */
  build({ fields, row }) {
    this.fields = fields.map((field) => drawn(field, (value) => this.typed(field.name, value)));
    this.node.className = row ? "form row" : "form";
    const foot = el("div", { class: "foot" }, this.button, this.second);
    this.node.replaceChildren(...this.fields.map(({ node }) => node), foot, this.error);
  }

  /** @param {string} name @param {Value} value */
  typed(name, value) {
    this.sending.type(name, value);
    this.draw();
  }

  /** @param {Record<string, Value>} more */
  send(more = {}) {
    if (this.data.button.disabled || this.lacks) return;
    this.sending.send({ ...Object.fromEntries(this.fields.map((field) => [field.name, field.read()])), ...more });
  }

  /** Whether a field that has to be filled in is empty. */
  get lacks() {
    return this.data.fields.some(({ required }, at) => required && !String(this.fields[at].read() ?? "").trim());
  }

  draw() {
    const { sending, data } = this;
    const { button } = data;
    const isWaiting = Boolean(sending.isBusy || sending.confirmedAt);
    for (const [at, field] of this.fields.entries()) {
      const { name, value } = data.fields[at];
      field.show(name in sending.values ? sending.values[name] : value);
      field.lock(isWaiting);
    }
    this.button.className = button.kind;
    setText(this.icon, button.icon);
    this.icon.hidden = !button.icon;
    setText(this.label, button.label);
    setText(this.key, shortcut(button.key).toLowerCase().replace("+", " "));
    if (button.key) setAttribute(this.button, "aria-keyshortcuts", shortcut(button.key));
    this.button.title = button.help;
    this.button.disabled = isWaiting || button.disabled || this.lacks;
    this.button.setAttribute("aria-busy", String(isWaiting));
    this.second.hidden = !data.second;
    if (data.second) {
      setText(this.second, data.second.label);
      this.second.className = data.second.kind;
      this.second.title = data.second.help;
      this.second.disabled = this.button.disabled;
    }
    setText(this.error, sending.error);
    this.error.hidden = !sending.error;
    if (sending.request) undecided.add(sending);
    else undecided.delete(sending);
  }

  /** The form is gone; a request that is under way goes on. */
  leave() {
    const { sending, name } = this;
    sending.changed = () => sending.request || undecided.delete(sending);
    sending.run = () => {};
    sending.left = setTimeout(
      () => sendings.get(name) === sending && !sending.request && sendings.delete(name),
      REMEMBERED,
    );
  }
}

/**
 * Runs the page once the server does not work for it: overlapping runs drop what the other drew.
 *
 * @param {() => void} ask
 */
async function whenAtRest(ask) {
  await atRest(PATIENT);
  if (!isLeaving()) ask();
}

/**
 * Whether the server works for this page no more, within so many ms.
 *
 * @param {number} patience
 */
async function atRest(patience) {
  const end = performance.now() + patience;
  while (isBusy() && performance.now() < end) await new Promise((go) => setTimeout(go, LOOK));
  return !isBusy();
}

/**
 * A field of this kind: its node, and how to read, show and lock its value.
 *
 * @param {Field} field
 * @param {Typed} typed
 */
function drawn(field, typed) {
  const made = { line, text, number: line, tags }[field.kind](field, typed);
  made.input.setAttribute("aria-label", field.label);
  const label = el(
    "label",
    // The input has the same name.
    { class: "label", title: field.help, "aria-hidden": "true", onclick: () => made.input.focus() },
    field.label,
  );
  return {
    name: field.name,
    node: el("div", { class: `field ${field.kind}` }, field.is_labelled ? label : null, ...made.nodes),
    ...made,
  };
}

/** @param {Field} field @param {Typed} typed @returns {Made} */
function line(field, typed) {
  const isNumber = field.kind === "number";
  const input = el("input", {
    ...(isNumber
      ? { type: "number", step: "any", min: field.least, max: field.most }
      : { type: "text", maxlength: field.longest }),
    placeholder: field.placeholder,
    autocomplete: "off",
    oninput: () => typed(read()),
  });
  const read = () => (isNumber ? input.valueAsNumber : input.value);
  return { input, nodes: [input, ...choicesOf(field, input)], ...access(input, read) };
}

/** @param {Field} field @param {Typed} typed @returns {Made} */
function text(field, typed) {
  const input = el("textarea", {
    placeholder: field.placeholder,
    maxlength: field.longest,
    oninput: () => typed(input.value),
  });
  input.style.height = `${field.height}px`;
  return { input, nodes: [input], ...access(input, () => input.value) };
}

/**
 * Tags as chips; enter and comma make one of what is typed, and so does sending the form.
 *
 * @param {Field} field
 * @param {Typed} typed
 * @returns {Made}
 */
function tags(field, typed) {
  const list = el("div", { class: "chips" });
  let chosen = /** @type {string[]} */ ([]);
  let isLocked = false;
  const all = () => {
    const words = input.value.split(",").map((tag) => tag.trim());
    return [...new Set([...chosen, ...words.filter(Boolean)])];
  };
  const set = (/** @type {string[]} */ now) => {
    chosen = now;
    const chips = fill(list, chosen, (tag) => {
      const remove = () => change(chosen.filter((other) => other !== tag));
      return el("button", { class: "chip", type: "button", title: `Remove ${tag}`, onclick: remove }, tag, " ×");
    });
    for (const chip of chips) chip.disabled = isLocked;
  };
  const change = (/** @type {string[]} */ now) => {
    set(now);
    typed(all());
  };
  const take = () => {
    const now = all();
    input.value = "";
    change(now);
  };
  const input = el("input", {
    type: "text",
    placeholder: field.placeholder || "Add a tag",
    autocomplete: "off",
    oninput: () => (input.value.includes(",") ? take() : typed(all())),
    onkeydown: (event) => {
      if (event.key !== "Enter" || !input.value.trim()) return;
      event.preventDefault(); // it makes a chip, and does not send the form
      take();
    },
  });
  return {
    input,
    nodes: [list, input],
    read: all,
    show: (value) => {
      if (!Array.isArray(value) || JSON.stringify(value) === JSON.stringify(all())) return;
      input.value = "";
      set(value);
    },
    lock: (locked) => {
      if (locked === isLocked) return;
      isLocked = input.disabled = locked;
      set(chosen);
    },
  };
}

/** @param {HTMLInputElement | HTMLTextAreaElement} input @param {() => Value} read @returns {Access} */
function access(input, read) {
  return {
    read,
    show: (value) => {
      if (!Object.is(read(), value)) input.value = String(value ?? "");
    },
    lock: (isLocked) => {
      input.readOnly = isLocked;
    },
  };
}

/** @param {Field} field @param {HTMLInputElement} input */
function choicesOf({ choices }, input) {
  if (!choices.length) return [];
  const list = el("datalist", { id: "choices" }, ...choices.map((choice) => el("option", { value: choice })));
  input.setAttribute("list", list.id);
  return [list];
}

/** @param {Mount<FormData>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = part(parentElement, ".memedex-form", HTMLElement);
  let form = open.get(root);
  if (!form || form.data.form !== data.form || form.data.place !== data.place) {
    form?.leave();
    form = new Form(root, data);
    open.set(root, form);
  }
  form.update(data, () => setTriggerValue("done", performance.now()));
  return () => {
    // Streamlit also calls this, on a page that stays, for a run of this function that a newer one overtook.
    if (root.isConnected) return;
    open.get(root)?.leave();
    open.delete(root);
  };
}
