// A form that sends itself: drawn from the page's data, kept while runs of the page draw it again.

import { fieldOf } from "./form_fields.js";
import { el, icon, setText } from "./elements.js";
import { isBusy, isLeaving, undecided } from "./hand.js";
import { Sending } from "./sending.js";

const REMEMBERED = 10_000; // ms for which what was typed outlives its form: overlapping runs drop and draw it again
const PATIENT = 5000; // ms to wait until the server works no more, before a run is asked for
const SLOW = 60_000; // ms to wait for a run that a press is about
const LOOK = 100;

const sendings = new Map(); // by library, person and form
const open = new WeakMap();

class Form {
  constructor(root, { place, form }) {
    this.name = `memedex.form ${place} ${form}`;
    this.root = root;
    this.fields = [];
    this.sending =
      sendings.get(this.name) ??
      new Sending({ store: waiting(this.name), changed: () => {}, rest: () => atRest(SLOW) });
    sendings.set(this.name, this.sending);
    clearTimeout(this.sending.left);
    this.sending.changed = () => this.draw();
    this.node = el("form", "form");
    this.node.noValidate = true;
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send();
      if (!["Escape"].includes(event.key)) event.stopPropagation(); // Streamlit and the grid have keys of their own
    });
    this.icon = icon("");
    this.label = el("span", "");
    // These two stay in the document: the browser drops a click on a button that is replaced while it is pressed.
    this.button = el("button", "", this.icon, this.label);
    this.button.type = "submit";
    this.error = el("div", "error");
    this.error.setAttribute("role", "alert");
    root.replaceChildren(this.node);
  }

  update(data, ask) {
    this.data = data;
    const outline = JSON.stringify(data.fields.map((field) => ({ ...field, value: null })));
    if (outline !== this.outline) this.build(data);
    this.outline = outline;
    this.sending.take(data, () => whenAtRest(ask));
    this.draw();
  }

  build({ fields, row }) {
    this.fields = fields.map((field) => fieldOf(field, (value) => this.typed(field.name, value)));
    this.node.className = row ? "form row" : "form";
    this.node.replaceChildren(...this.fields.map(({ node }) => node), el("div", "foot", this.button), this.error);
  }

  typed(name, value) {
    this.sending.type(name, value);
    this.draw();
  }

  send() {
    if (this.data.button.disabled || this.lacks) return;
    this.sending.send(Object.fromEntries(this.fields.map((field) => [field.name, field.read()])));
  }

  /** Whether a field that has to be filled in is empty. */
  get lacks() {
    return this.data.fields.some(({ required }, at) => required && !String(this.fields[at].read() ?? "").trim());
  }

  draw() {
    const {
      sending,
      data: { button },
    } = this;
    const isWaiting = Boolean(sending.isBusy || sending.confirmedAt);
    for (const [at, field] of this.fields.entries()) {
      const { name, value } = this.data.fields[at];
      field.show(name in sending.values ? sending.values[name] : value);
      field.lock(isWaiting);
    }
    this.button.className = button.kind;
    setText(this.icon, button.icon);
    this.icon.hidden = !button.icon;
    setText(this.label, button.label);
    this.button.title = button.help;
    this.button.disabled = isWaiting || button.disabled || this.lacks;
    this.button.setAttribute("aria-busy", String(isWaiting));
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

/** Where a request waits in this tab until it is confirmed. */
function waiting(name) {
  return {
    read: () => JSON.parse(sessionStorage.getItem(name) ?? "null"),
    write: (request) =>
      request ? sessionStorage.setItem(name, JSON.stringify(request)) : sessionStorage.removeItem(name),
  };
}

/** Runs the page once the server does not work for it: overlapping runs drop what the other drew. */
async function whenAtRest(ask) {
  await atRest(PATIENT);
  if (!isLeaving()) ask();
}

/** Whether the server works for this page no more, within so many ms. */
async function atRest(patience) {
  const end = performance.now() + patience;
  while (isBusy() && performance.now() < end) await new Promise((go) => setTimeout(go, LOOK));
  return !isBusy();
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".memedex-form");
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
    form.leave();
    open.delete(root);
  };
}
