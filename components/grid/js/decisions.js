// Decisions made here: shown immediately, written to the log, undone. And presses that need a run of the page.

import { isBusy, isLeaving } from "../../shell/js/hand.js";
import { newId } from "../../shell/js/post.js";
import { follow } from "../../shell/js/streamlit_page.js";
import { count } from "./dom.js";
import { undoable } from "./log.js";

/** @import { Decision, Result } from "./log.js" */
/** @import { Grid } from "./main.js" */
/** @import { Card, Everything } from "./model.js" */

/**
 * A verb with its button and key, as `Action` of components/grid/actions.py says.
 *
 * @typedef {{
 *   verb: string,
 *   label: string,
 *   key: string,
 *   tone: string,
 *   leaves: boolean,
 *   single: boolean,
 *   tiers?: string[],
 *   glyph?: string,
 *   rest?: boolean,
 *   message: string,
 *   reasons: string[],
 *   goes: "" | "elsewhere" | "run" | "dialog",
 *   to: string,
 * }} Action
 */
/**
 * The coins of a decision: by address, with the revisions that were shown and the decisions made here since, or all
 * that match a filter.
 *
 * @typedef {{
 *   addresses: string[],
 *   seen: Record<string, number | null>,
 *   after?: string[],
 *   matching?: {filter: string, generation: number, except: string[]},
 * }} About
 */
/** @typedef {{verb: string, addresses: string[], matching?: object | null, goes?: string}} Act */

// ms within which a second click is ignored, as its coin was not seen yet: if the browser counts both as a double
// click, or a button's key is held down, and on the same button otherwise, as the hand moved in between.
const SLIP = { same: 400, moved: 200 };

const PATIENCE = 2500; // ms before they are sent again: a run that another one overtakes does nothing
const LATER = 3; // how often this doubles: a slow page must not be restarted for ever

export class Decisions {
  /** @type {EventTarget | null} the button that was pressed last … */
  pressed = null;
  pressedAt = -Infinity; // … and when

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /**
   * Decides by a click on a button. Keys that act on the cards have no such limit.
   *
   * @param {MouseEvent} event
   * @param {() => void} decide
   */
  press({ detail, timeStamp, currentTarget }, decide) {
    const limit = detail !== 1 ? SLIP.same : currentTarget === this.pressed ? SLIP.moved : 0;
    if (timeStamp - this.pressedAt < limit) return;
    this.pressed = currentTarget;
    this.pressedAt = performance.now(); // a busy page shows the next coin only now
    decide();
  }

  /**
   * Applies an action to the selection or the card under the cursor; shown immediately, confirmed later.
   *
   * @param {Action} action
   * @param {{reason?: string, isOne?: boolean}} how isOne: the open coin alone is meant
   */
  make(action, { reason = "", isOne = this.grid.focus.isCovered } = {}) {
    const { model, tools } = this.grid;
    const everything = isOne || action.single ? null : model.everything;
    const addresses = isOne && model.cursor !== null ? [model.cursor] : model.targets(action);
    if (!addresses.length && !everything) return;
    const number = everything ? model.chosenCount : addresses.length;
    const about = everything ? aboutAll(everything) : this.about(addresses);
    if (action.goes === "dialog")
      return this.grid.tagging.show(about, { number, name: addresses.length === 1 ? this.called(addresses, 1) : "" });
    if (action.to) follow(action.to + encodeURIComponent(addresses[0]));
    else if (action.goes) this.grid.acts.add({ verb: action.verb, goes: action.goes, ...about });
    else {
      const others = action.rest ? this.restOf(addresses) : [];
      const rest = action.rest ? { others, seen: { ...this.about(others).seen, ...about.seen } } : {};
      this.add({ verb: action.verb, reason, ...about, ...rest }, { hides: action.leaves ? addresses : null });
    }
    if (everything) model.drop();
    model.passShadows();
    if (action.leaves) model.forget(addresses);
    addresses.forEach((address) => model.refused.delete(address));
    const name = this.called(addresses, number);
    if (action.leaves) tools.sayDone(done(action, name, reason));
    else tools.say(`${action.label}: ${name} …`);
    this.grid.paint({ focus: true });
  }

  /**
   * The coins that a decision about one settles with it: those that are selected, or else all others of the page.
   *
   * @param {string[]} addresses
   */
  restOf(addresses) {
    const { selection, visible } = this.grid.model;
    const among = selection.size ? [...selection.keys()] : visible;
    return among.filter((address) => !addresses.includes(address));
  }

  /**
   * Adds and removes tags of these coins.
   *
   * @param {About} about
   * @param {{add: string[], remove: string[], number: number}} change
   */
  tag(about, { add, remove, number }) {
    const { tools, model } = this.grid;
    this.add({ verb: "tag", add, remove, ...about }, { hides: null });
    if (about.matching) model.drop(); // changed coins no longer belong to the selection
    about.addresses.forEach((address) => model.refused.delete(address));
    const changes = [...add.map((tag) => `+${tag}`), ...remove.map((tag) => `−${tag}`)];
    tools.sayDone(`Tags of ${this.called(about.addresses, number)}: ${changes.join(", ")}`);
    this.grid.paint();
  }

  /** @param {string[]} addresses @param {number} number */
  called(addresses, number) {
    return number === 1 && addresses.length
      ? (this.grid.model.card(addresses[0])?.name ?? "one coin")
      : count(number, "coin");
  }

  /**
   * Stores a verdict on a coin and similar ones; the card stays where it is.
   *
   * @param {string} address
   * @param {string} verdict
   * @param {string[]} others
   * @param {string} message
   */
  judge(address, verdict, others, message) {
    const { tools } = this.grid;
    this.add({ verb: "judge", reason: verdict, others, ...this.about([address]) });
    tools.sayDone(message);
    this.grid.paint();
  }

  /**
   * Says whether a coin is unfit for the screen, or "automatic" for what is recognised.
   *
   * @param {string} address
   * @param {"unfit" | "fit" | "automatic"} reason
   */
  flag(address, reason) {
    const { tools, model } = this.grid;
    model.refused.delete(address);
    this.add({ verb: "flag", reason, ...this.about([address]) });
    if (reason === "automatic") this.grid.flags.delete(address);
    else this.grid.flags.set(address, reason);
    this.blur(model.card(address), reason);
    tools.say(`${this.called([address], 1)}: ${reason === "automatic" ? "as recognised" : `${reason} for the screen`}`);
    this.grid.paint();
  }

  /**
   * In safe mode, blurs the pictures of a card that is flagged or shows them, until the page runs again.
   *
   * @param {Card | undefined} card
   * @param {string} reason
   */
  blur(card, reason) {
    const { safe } = this.grid.data;
    if (!safe || !card || reason === "automatic") return;
    const marked = (/** @type {string} */ address) =>
      address && address.split("?")[0] + (reason === "unfit" ? `?${safe.mark}=1` : "");
    Object.assign(card, { picture: marked(card.picture), large: marked(card.large) });
  }

  /**
   * Adds a comment to a coin.
   *
   * @param {string} address
   * @param {string} text
   */
  comment(address, text) {
    const { tools, model } = this.grid;
    model.refused.delete(address);
    this.add({ verb: "comment", text, ...this.about([address]) });
    tools.sayDone(`Comment on ${this.called([address], 1)}: saved`);
    this.grid.paint();
  }

  /**
   * Corrects the text in a coin's picture; null: as a program read it.
   *
   * @param {string} address
   * @param {string | null} text
   */
  correctText(address, text) {
    const { tools, model } = this.grid;
    model.refused.delete(address);
    this.add({ verb: "correct text", text, ...this.about([address]) });
    tools.say(`Text in the picture of ${this.called([address], 1)}: saved`);
    this.grid.paint();
  }

  /**
   * Undoes the last decision, by its id: of this page, or else of what its last run listed.
   *
   * @param {"undo" | "redo"} verb
   */
  undoOrRedo(verb) {
    const { model, log, tools, data } = this.grid;
    if (!data.undoable) return;
    const { back, again } = undoable(log.news, data);
    const undoes = (verb === "undo" ? back : again).at(-1);
    if (!undoes) return tools.say(`Nothing to ${verb}`);
    const hides = model.hides.get(undoes);
    const entry = log.add({ verb, addresses: [], undoes });
    if (hides) {
      model.hides.set(entry.id, hides);
      entry.effect = verb === "undo" ? { show: hides } : { hide: hides };
      if (verb === "undo") model.moveTo(hides[0] ?? model.cursor);
    }
    tools.say(verb === "undo" ? "Undone" : "Redone");
    this.grid.paint({ focus: true });
    entry.cursor = model.cursor ?? undefined;
  }

  /**
   * What the server made of it: reasons for what was refused, the cursor onto what was undone, unless it
   * was moved since; whether it moved now.
   *
   * @param {Result[]} results
   */
  settle(results) {
    const { model, tools, data } = this.grid;
    const before = model.cursor;
    for (const result of results) {
      if (result.refused.length) this.grid.earlyKeys.rest();
      for (const { item, reason } of result.refused) model.refused.set(item, reason);
      const [first] = result.refused; // has no item if everything was refused
      if (Object.keys(result.again).length) {
        this.ask(result);
        continue;
      }
      const isCalm = first && !first.item && ["undo", "redo"].includes(result.verb); // no decision was lost
      const reason = first && first.reason[0].toUpperCase() + first.reason.slice(1);
      if (isCalm) tools.say(reason);
      else if (first)
        tools.say(
          result.refused.length > 1 ? `${count(result.refused.length, "coin")} refused: ${first.reason}` : reason,
          "red",
        );
      else if (result.message) tools.say(result.message);
      const isMoved = (result.cursor ?? null) !== before; // the next key is for the card that the user went to since
      if (
        result.verb === "undo" &&
        !isMoved &&
        result.done.length &&
        data.cards.some((card) => card.address === result.done[0])
      )
        model.moveTo(result.done[0]);
    }
    return model.cursor !== before;
  }

  /**
   * Asks about coins that the server would decide only with a reason to, and decides them all the same if that is
   * wanted.
   *
   * @param {Result} result
   */
  ask({ verb, reason, again, refused }) {
    const { tools, model } = this.grid;
    const addresses = Object.keys(again);
    const action = this.grid.actions.find((each) => each.verb === verb);
    const name = this.called(addresses, addresses.length);
    const why = refused.find(({ item }) => item in again)?.reason;
    tools.ask(`${name}: ${why}`, `${action?.label ?? verb} all the same`, () => {
      this.add({ verb, reason, addresses, seen: again, is_sure: true }, { hides: action?.leaves ? addresses : null });
      addresses.forEach((address) => model.refused.delete(address));
      if (action?.leaves) tools.sayDone(done(action, name, reason));
      else tools.say(`${action?.label ?? verb}: ${name} …`);
      this.grid.paint({ focus: true });
    });
  }

  /**
   * The coins of a decision, each with the revision that was shown, and what was decided about them here since.
   *
   * @param {string[]} addresses
   * @returns {About}
   */
  about(addresses) {
    const { model } = this.grid;
    const seen = Object.fromEntries(
      addresses.map((address) => [address, model.selection.get(address) ?? model.card(address)?.revision ?? null]),
    );
    return { addresses, seen, after: [...new Set(addresses.flatMap((address) => model.decided.get(address) ?? []))] };
  }

  /**
   * Writes a decision to the log; `hides`: the cards that leave with it, null for what shows when the page is run.
   *
   * @param {Decision} decision
   * @param {{hides: string[] | null}} effect
   */
  add(decision, { hides } = { hides: [] }) {
    const { model, log } = this.grid;
    const entry = log.add(decision);
    entry.effect = hides ? { hide: hides } : null;
    if (hides) model.hides.set(entry.id, hides);
    for (const address of decision.addresses)
      model.decided.set(address, [...(model.decided.get(address) ?? []).slice(-2), entry.id]);
  }
}

/** @param {Everything} everything @returns {About} */
function aboutAll({ filter, generation, except }) {
  return { addresses: [], seen: {}, matching: { filter, generation, except } };
}

/** @param {Action} action @param {string} name @param {string} reason */
function done({ message }, name, reason) {
  return message.replace("{}", () => name) + (reason && `: ${reason}`);
}

/** Presses that need a run of the page, such as one that opens another page: sent with each run until one did them. */
export class Acts {
  timer = 0;

  /**
   * `send` carries a value to the server, and thereby runs the page.
   *
   * @param {(value: object) => void} send
   */
  constructor(send) {
    this.send = send;
    this.client = newId();
    /** @type {(Act & {n: number})[]} */
    this.entries = [];
    this.next = 1;
    this.sendings = 0;
    this.inVain = 0;
    this.led = 0; // the last press whose link was followed
  }

  /** @param {Act} act */
  add(act) {
    this.entries.push({ n: this.next++, ...act });
    this.ask();
  }

  /** Runs the page; not while another one is on its way. */
  ask() {
    clearTimeout(this.timer);
    if (isLeaving()) return;
    const entries = this.entries.map(({ n, verb, addresses, matching = null }) => ({ n, verb, addresses, matching }));
    // Streamlit ignores a value equal to the last one, whose run may have been interrupted.
    this.send({ client: this.client, entries, sending: ++this.sendings });
    if (this.entries.length)
      this.timer = setTimeout(() => this.askAgain(), PATIENCE * 2 ** Math.min(this.inVain, LATER));
  }

  askAgain() {
    this.inVain += 1;
    if (isBusy() && this.inVain <= LATER) this.timer = setTimeout(() => this.askAgain(), PATIENCE);
    else this.ask();
  }

  /**
   * A run of the page says how far it came, and where the last press leads.
   *
   * @param {{client: string, n: number, link: string} | null} [acted]
   */
  take(acted) {
    if (acted?.client !== this.client) return;
    this.entries = this.entries.filter(({ n }) => n > acted.n);
    if (!this.entries.length) clearTimeout(this.timer);
    this.inVain = 0;
    if (!acted.link || acted.n <= this.led) return;
    this.led = acted.n;
    follow(acted.link);
  }

  stop() {
    clearTimeout(this.timer);
  }
}
