// What the server says of single coins (components/grid/coin.py), asked anew once the page has run.

import { post } from "../../shell/js/post.js";

/** @import { Detail, Link } from "./coin_facts.js" */
/** @import { Compared } from "./comparison.js" */
/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */

/** @typedef {{card: Card, place: Link, detail: Detail, comparison: Compared}} Coin */

export class Coins {
  /** @type {Map<string, Coin | null>} address → what was said last; null if there is no such coin */
  known = new Map();
  asked = /** @type {Set<string>} */ (new Set()); // since the page ran
  next = ""; // while one is asked for
  isAsking = false;

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /** @param {string} address */
  get(address) {
    return this.known.get(address);
  }

  /** The page ran: what was said may have changed. */
  forget() {
    this.asked.clear();
  }

  /**
   * Asks for a coin, unless that was done since the page ran; of several that are asked for meanwhile, for the last.
   *
   * @param {string} address
   */
  async ask(address) {
    if (this.asked.has(address)) return;
    this.next = address;
    if (this.isAsking) return;
    this.isAsking = true;
    while (this.next) {
      const coin = this.next;
      this.next = "";
      this.asked.add(coin);
      const { answer, status } = await post(this.grid.data.server, "coin", { address: coin }, { keepalive: false });
      if (answer || status === 409) this.known.set(coin, answer ?? null);
      this.grid.refresh();
    }
    this.isAsking = false;
  }
}
