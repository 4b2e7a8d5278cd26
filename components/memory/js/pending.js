// Pending memories as a list of cards with the review page's keys: a accept, r reject, u undo, arrows.

import { el, icon } from "../../shell/js/elements.js";
import { hand, undecided } from "../../shell/js/hand.js";
import { PendingQueue } from "./pending_queue.js";

const open = new WeakMap();

class List {
  constructor(root, { place }) {
    const name = `memedex.pending ${place}`;
    this.root = root;
    this.focused = "";
    this.queue = new PendingQueue({
      store: {
        read: () => JSON.parse(sessionStorage.getItem(name) ?? "null"),
        write: (requests) =>
          requests.length ? sessionStorage.setItem(name, JSON.stringify(requests)) : sessionStorage.removeItem(name),
      },
      changed: () => this.draw(),
    });
    root.tabIndex = -1;
    const onKey = (event) => this.handleKey(event);
    document.addEventListener("keydown", onKey, true);
    this.stop = () => document.removeEventListener("keydown", onKey, true);
  }

  /** Keys act while the focus is in the list or on the page itself, and nothing covers it. */
  handleKey(event) {
    const target = event.composedPath()[0];
    const isHere = target === document.body || this.root.contains(target);
    if (isHere && this.root.isConnected && !event.isComposing && !event.defaultPrevented && !hand().isCovered)
      this.press(event);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.data.can_write) return;
    const key = { A: "a", R: "r", U: "u" }[event.key] ?? event.key;
    if (event.repeat && "aru".includes(key)) return event.preventDefault(); // a key that is held decides once
    const entries = this.queue.entries;
    const at = Math.max(
      0,
      entries.findIndex(({ id }) => id === this.focused),
    );
    if (key === "u") this.queue.decide("undo");
    else if (!entries.length) return;
    else if (key === "a" || key === "r") this.decide(key === "a" ? "accept" : "reject", entries[at].id);
    else if (key === "ArrowDown" || key === "ArrowRight") this.focus(entries[Math.min(at + 1, entries.length - 1)].id);
    else if (key === "ArrowUp" || key === "ArrowLeft") this.focus(entries[Math.max(at - 1, 0)].id);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit has keys of its own
  }

  /** Decides, and goes on to the next card. */
  decide(verb, id) {
    const entries = this.queue.entries;
    const at = entries.findIndex((entry) => entry.id === id);
    this.focused = (entries[at + 1] ?? entries[at - 1])?.id ?? "";
    this.queue.decide(verb, id);
    this.focus(this.focused);
  }

  focus(id) {
    this.focused = id;
    for (const card of this.root.querySelectorAll(".card")) card.tabIndex = card.dataset.id === id ? 0 : -1;
    (this.root.querySelector(`[data-id="${id}"]`) ?? this.root).focus();
  }

  update(data, ask) {
    this.data = data;
    this.queue.take(data, ask);
    this.draw();
  }

  draw() {
    const { queue, data } = this;
    const entries = queue.entries;
    const hadFocus = this.root.contains(this.root.getRootNode().activeElement);
    if (!entries.some(({ id }) => id === this.focused)) this.focused = entries[0]?.id ?? "";
    const rest = data.total - (data.entries.length - entries.length);
    const head = el("div", "head", el("span", "", rest === 1 ? "1 memory waits" : `${rest} memories wait`));
    if (data.can_write) head.append(el("span", "keys", "a accept · r reject · u undo · arrows move"));
    const error = el("div", "error", queue.error);
    error.setAttribute("role", "alert");
    error.hidden = !queue.error;
    head.hidden = rest < 1;
    this.root.replaceChildren(head, error, ...entries.map((entry) => this.card(entry)));
    if (hadFocus) this.focus(this.focused);
    if (queue.requests.length) undecided.add(queue);
    else undecided.delete(queue);
  }

  card(entry) {
    const card = el("article", "card");
    card.dataset.id = entry.id;
    card.tabIndex = entry.id === this.focused ? 0 : -1;
    card.addEventListener("focus", () => this.focused !== entry.id && this.focus(entry.id));
    const where = entry.place ? `${entry.kind} · ${entry.place}` : entry.kind;
    card.append(
      el("div", "about", el("span", "", where), el("span", "", `${entry.author} · ${entry.via} · ${entry.when}`)),
    );
    if (entry.before !== null) card.append(el("del", "text", entry.before));
    card.append(el(entry.removes ? "del" : "p", "text", entry.text));
    if (entry.flags.length)
      card.append(
        el(
          "ul",
          "flags",
          ...entry.flags.map(({ label, reason }) => el("li", "", el("strong", "", label), el("span", "", reason))),
        ),
      );
    if (this.data.can_write)
      card.append(
        el(
          "div",
          "foot",
          this.button(entry, "accept", "Accept", "check"),
          this.button(entry, "reject", "Reject", "close"),
        ),
      );
    return card;
  }

  button(entry, verb, label, sign) {
    const button = el("button", verb, icon(sign), el("span", "", label));
    button.type = "button";
    button.addEventListener("click", () => this.decide(verb, entry.id));
    return button;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".memedex-pending");
  let list = open.get(root);
  if (!list || list.data.place !== data.place) {
    list?.stop();
    list = new List(root, data);
    open.set(root, list);
  }
  list.update(data, () => setTriggerValue("done", performance.now()));
  return () => {
    if (root.isConnected) return; // Streamlit also calls this for a run that a newer one overtook
    list.stop();
    undecided.delete(list.queue);
    open.delete(root);
  };
}
