// What is decided here: felt at once, written into the log, taken back.

import { count } from "./dom.js";

export class Decisions {
  constructor(grid) {
    this.grid = grid;
  }

  /** Does a verb to the selection, or to the card under the cursor; felt at once, confirmed later. */
  make(action, { reason = "" } = {}) {
    const { model, viewer, comparison, log, tools } = this.grid;
    const isOne = viewer.isOpen || comparison.isOpen; // what one looks at so closely is what is meant
    const everything = !isOne && !action.single && model.everything;
    const addresses = isOne ? [model.cursor] : model.targets(action);
    if (!addresses.length && !everything) return;
    const number = everything ? model.chosenCount : addresses.length;
    const { filter, generation, except } = everything || {};
    const about = everything ? { addresses: [], seen: {}, matching: { filter, generation, except } } : this.about(addresses);
    const entry = log.add({ verb: action.verb, reason, goes: action.goes, ...about });
    this.grid.hearing.awaitsDialog = action.goes === "dialog";
    if (everything) model.clear();
    entry.effect = action.leaves ? { hide: addresses } : null;
    if (action.leaves) {
      this.remember(entry, addresses);
      model.select(addresses, false);
    }
    addresses.forEach((address) => model.refused.delete(address));
    const name = number === 1 && addresses.length ? model.card(addresses[0])?.name ?? "one coin" : count(number, "coin");
    tools.say(action.leaves ? `${action.said} ${name}` : `${action.label}: ${name} …`);
    this.grid.paint({ focus: true });
  }

  /** Says what a coin is to others that look like it; the card stays where it is. */
  judge(address, verdict, others, said) {
    const { log, tools } = this.grid;
    const entry = log.add({ verb: "judge", reason: verdict, others, ...this.about([address]) });
    entry.effect = {};
    this.remember(entry, []);
    tools.say(said);
    this.grid.paint();
  }

  takeBack(verb) {
    const { model, log, tools, data } = this.grid;
    if (!data.undoable) return;
    const target = verb === "undo" ? model.history.findLast((entry) => !entry.undone) : model.history.find((entry) => entry.undone);
    const entry = log.add({ verb, addresses: [], seen: {} });
    if (target) {
      target.undone = verb === "undo";
      entry.effect = verb === "undo" ? { show: target.hides } : { hide: target.hides };
      if (verb === "undo") model.moveTo(target.hides[0] ?? model.cursor);
    }
    tools.say(verb === "undo" ? "Taken back" : "Done again");
    this.grid.paint({ focus: true });
  }

  /** What the server made of it: reasons for what was refused, the cursor onto what was taken back. */
  settle(results) {
    const { model, tools, data } = this.grid;
    for (const result of results) {
      if (result.refused.length) this.grid.hearing.rest();
      for (const { item, reason } of result.refused) model.refused.set(item, reason);
      const [first] = result.refused; // without an item where the whole was refused
      const isCalm = first && !first.item && ["undo", "redo"].includes(result.verb); // nothing that was decided is at stake
      if (isCalm) tools.say(first.reason);
      else if (first) tools.say(first.item ? `${count(result.refused.length, "coin")} refused: ${first.reason}` : first.reason, "red");
      else if (result.said) tools.say(result.said);
      if (result.verb === "undo" && result.done.length && data.cards?.some((card) => card.address === result.done[0])) model.moveTo(result.done[0]);
    }
  }

  /** The coins a decision is about, each with the revision that was seen. */
  about(addresses) {
    const { model } = this.grid;
    return { addresses, seen: Object.fromEntries(addresses.map((address) => [address, model.selection.get(address) ?? model.card(address)?.revision ?? null])) };
  }

  /** What undo will take back before the server does; a new decision ends what could be done again. */
  remember(entry, hides) {
    const { model } = this.grid;
    entry.hides = hides;
    model.history = [...model.history.filter((each) => !each.undone), entry];
  }
}
