// Decisions made here: shown immediately, written to the log, undone.

import { count } from "./dom.js";
import { undoable } from "./log.js";

// ms within which a second click is ignored, as its coin was not seen yet: if the browser counts both as a double
// click, or a button's key is held down, and on the same button otherwise, as the hand moved in between.
const SLIP = { same: 400, moved: 200 };

export class Decisions {
  constructor(grid) {
    this.grid = grid;
  }

  /** Decides by a click on a button. Keys that act on the cards have no such limit. */
  press({ detail, timeStamp, currentTarget }, decide) {
    const limit = detail !== 1 ? SLIP.same : currentTarget === this.pressed ? SLIP.moved : 0;
    if (timeStamp - (this.pressedAt ?? -Infinity) < limit) return;
    this.pressed = currentTarget;
    this.pressedAt = performance.now(); // a busy page shows the next coin only now
    decide();
  }

  /** Applies an action to the selection or the card under the cursor; shown immediately, confirmed later. */
  make(action, { reason = "" } = {}) {
    const { model, viewer, comparison, tools } = this.grid;
    const isOne = viewer.isOpen || comparison.isOpen; // the open coin is the one that is meant
    const everything = !isOne && !action.single && model.everything;
    const addresses = isOne ? [model.cursor] : model.targets(action);
    if (!addresses.length && !everything) return;
    const number = everything ? model.chosenCount : addresses.length;
    const { filter, generation, except } = everything || {};
    const about = everything
      ? { addresses: [], seen: {}, matching: { filter, generation, except } }
      : this.about(addresses);
    if (action.goes === "dialog")
      return this.grid.tagging.show(about, { number, name: addresses.length === 1 ? this.called(addresses, 1) : "" });
    if (action.goes) this.grid.acts.add({ verb: action.verb, goes: action.goes, ...about });
    else this.add({ verb: action.verb, reason, ...about }, { hides: action.leaves ? addresses : null });
    if (everything) model.drop();
    model.passShadows();
    if (action.leaves) model.forget(addresses);
    addresses.forEach((address) => model.refused.delete(address));
    const name = this.called(addresses, number);
    tools.say(
      action.leaves ? action.message.replace("{}", () => name) + because(reason) : `${action.label}: ${name} …`,
    );
    this.grid.paint({ focus: true });
  }

  /** Adds and removes tags of these coins, as `about` names them. */
  tag(about, { add, remove, number }) {
    const { tools, model } = this.grid;
    this.add({ verb: "tag", add, remove, ...about }, { hides: null });
    if (about.matching) model.drop(); // changed coins no longer belong to the selection
    about.addresses.forEach((address) => model.refused.delete(address));
    const changes = [...add.map((tag) => `+${tag}`), ...remove.map((tag) => `−${tag}`)];
    tools.say(`Tags of ${this.called(about.addresses, number)}: ${changes.join(", ")}`);
    this.grid.paint();
  }

  called(addresses, number) {
    return number === 1 && addresses.length
      ? (this.grid.model.card(addresses[0])?.name ?? "one coin")
      : count(number, "coin");
  }

  /** Stores a verdict on a coin and similar ones; the card stays where it is. */
  judge(address, verdict, others, message) {
    const { tools } = this.grid;
    this.add({ verb: "judge", reason: verdict, others, ...this.about([address]) });
    tools.say(message);
    this.grid.paint();
  }

  /** Says whether a coin is unfit for the screen: "unfit", "fit", or "automatic" for what is recognised. */
  flag(address, reason) {
    const { tools, model } = this.grid;
    model.refused.delete(address);
    this.add({ verb: "flag", reason, ...this.about([address]) });
    (this.grid.flags ??= new Map())[reason === "automatic" ? "delete" : "set"](address, reason);
    this.blur(model.card(address), reason);
    tools.say(`${this.called([address], 1)}: ${reason === "automatic" ? "as recognised" : `${reason} for the screen`}`);
    this.grid.paint();
  }

  /** In safe mode, blurs the pictures of a card that is flagged or shows them, until the page runs again. */
  blur(card, reason) {
    const { safe } = this.grid.data;
    if (!safe || !card || reason === "automatic") return;
    for (const size of ["picture", "large"])
      if (card[size]) card[size] = card[size].split("?")[0] + (reason === "unfit" ? `?${safe.mark}=1` : "");
  }

  /** Corrects the text in a coin's picture; null: as a program read it. */
  correctText(address, text) {
    const { tools, model } = this.grid;
    model.refused.delete(address);
    this.add({ verb: "correct text", text, ...this.about([address]) });
    tools.say(`Text in the picture of ${this.called([address], 1)}: saved`);
    this.grid.paint();
  }

  /** Undoes the last decision, by its id: of this page, or else of what its last run listed. */
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
    entry.cursor = model.cursor;
  }

  /**
   * What the server made of it: reasons for what was refused, the cursor onto what was undone, unless it
   * was moved since; whether it moved now.
   */
  settle(results) {
    const { model, tools, data } = this.grid;
    const before = model.cursor;
    for (const result of results) {
      if (result.refused.length) this.grid.earlyKeys.rest();
      for (const { item, reason } of result.refused) model.refused.set(item, reason);
      const [first] = result.refused; // has no item if everything was refused
      if (Object.keys(result.again ?? {}).length) {
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
      const isMoved = result.cursor !== before; // the next key is for the card that the user went to since
      if (
        result.verb === "undo" &&
        !isMoved &&
        result.done.length &&
        data.cards?.some((card) => card.address === result.done[0])
      )
        model.moveTo(result.done[0]);
    }
    return model.cursor !== before;
  }

  /**
   * Asks about coins that the server would decide only with a reason to, and decides them all the same if that is
   * wanted.
   */
  ask({ verb, reason = "", again, refused }) {
    const { tools, model } = this.grid;
    const addresses = Object.keys(again);
    const action = this.grid.actions.find((each) => each.verb === verb);
    const { reason: done } = refused.find(({ item }) => item in again);
    const message =
      addresses.length > 1 ? `${count(addresses.length, "coin")}: ${done}` : `${this.called(addresses, 1)}: ${done}`;
    tools.ask(message, `${action?.label ?? verb} all the same`, () => {
      this.add({ verb, reason, addresses, seen: again, is_sure: true }, { hides: action?.leaves ? addresses : null });
      addresses.forEach((address) => model.refused.delete(address));
      const name = this.called(addresses, addresses.length);
      tools.say(
        action?.leaves
          ? action.message.replace("{}", () => name) + because(reason)
          : `${action?.label ?? verb}: ${name} …`,
      );
      this.grid.paint({ focus: true });
    });
  }

  /** The coins of a decision, each with the revision that was shown, and what was decided about them here since. */
  about(addresses) {
    const { model } = this.grid;
    const seen = Object.fromEntries(
      addresses.map((address) => [address, model.selection.get(address) ?? model.card(address)?.revision ?? null]),
    );
    return { addresses, seen, after: [...new Set(addresses.flatMap((address) => model.decided.get(address) ?? []))] };
  }

  /** Writes a decision to the log; `hides`: the cards that leave with it, null for what shows when the page is run. */
  add(decision, { hides = [] } = {}) {
    const { model, log } = this.grid;
    const entry = log.add(decision);
    entry.effect = hides ? { hide: hides } : null;
    if (hides) model.hides.set(entry.id, hides);
    for (const address of decision.addresses)
      model.decided.set(address, [...(model.decided.get(address) ?? []).slice(-2), entry.id]);
  }
}

function because(reason) {
  return reason && `: ${reason}`;
}
