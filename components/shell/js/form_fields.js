// The fields of a form: each has its node, and how to read, show and lock its value.

import { fill } from "./arrange.js";
import { el } from "./elements.js";

/** A field of this kind; `typed(value)` is told what somebody types. */
export function fieldOf(field, typed) {
  const made = { line, text, number: line, tags }[field.kind](field, typed);
  made.input.setAttribute("aria-label", field.label);
  const label = el("label", "label", field.label);
  label.title = field.help;
  label.addEventListener("click", () => made.input.focus());
  label.setAttribute("aria-hidden", "true"); // the input says it
  return {
    name: field.name,
    node: el("div", `field ${field.kind}`, ...(field.is_labelled ? [label] : []), ...made.nodes),
    ...made,
  };
}

function line(field, typed) {
  const input = document.createElement("input");
  const isNumber = field.kind === "number";
  Object.assign(input, { type: isNumber ? "number" : "text", placeholder: field.placeholder, autocomplete: "off" });
  if (isNumber) Object.assign(input, { step: "any", min: field.least, max: field.most ?? "" });
  else input.maxLength = field.longest;
  const read = () => (isNumber ? input.valueAsNumber : input.value);
  input.addEventListener("input", () => typed(read()));
  return { input, nodes: [input, ...choicesOf(field, input)], ...shows(input, read) };
}

function text(field, typed) {
  const input = document.createElement("textarea");
  Object.assign(input, { placeholder: field.placeholder, maxLength: field.longest });
  input.style.height = `${field.height}px`;
  input.addEventListener("input", () => typed(input.value));
  return { input, nodes: [input], ...shows(input, () => input.value) };
}

/** Tags as chips; enter and comma make one of what is typed, and so does sending the form. */
function tags(field, typed) {
  const input = document.createElement("input");
  Object.assign(input, { type: "text", placeholder: field.placeholder || "Add a tag", autocomplete: "off" });
  const list = el("div", "chips");
  let [chosen, isLocked] = [[], false];
  const split = (words) =>
    words
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean);
  const all = () => [...new Set([...chosen, ...split(input.value)])];
  const set = (now) => {
    chosen = now;
    const chips = fill(
      list,
      chosen,
      (tag) => tag,
      (tag) => {
        const remove = el("button", "chip", tag, " ×");
        Object.assign(remove, { type: "button", title: `Remove ${tag}` });
        remove.addEventListener("click", () => change(chosen.filter((other) => other !== tag)));
        return remove;
      },
    );
    for (const chip of chips) chip.disabled = isLocked;
  };
  const change = (now) => (set(now), typed(all()));
  input.addEventListener("input", () => (input.value.includes(",") ? take() : typed(all())));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    event.preventDefault(); // it makes a chip, and does not send the form
    take();
  });
  const take = () => {
    const now = all();
    input.value = "";
    change(now);
  };
  return {
    input,
    nodes: [list, input],
    read: all,
    show: (value) => {
      if (JSON.stringify(value) === JSON.stringify(all())) return;
      input.value = "";
      set(value);
    },
    lock: (locked) => {
      if (locked === isLocked) return;
      [isLocked, input.disabled] = [locked, locked];
      set(chosen);
    },
  };
}

function shows(input, read) {
  return {
    read,
    show: (value) => {
      if (!Object.is(read(), value)) input.value = value ?? "";
    },
    lock: (isLocked) => {
      input.readOnly = isLocked;
    },
  };
}

function choicesOf({ choices }, input) {
  if (!choices.length) return [];
  const list = document.createElement("datalist");
  list.id = "choices";
  list.append(...choices.map((choice) => Object.assign(document.createElement("option"), { value: choice })));
  input.setAttribute("list", list.id);
  return [list];
}
