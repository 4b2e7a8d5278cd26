// Presses that need a run of the page, such as one that opens another page: sent with each run until one has done them.
// @ts-check

import { isBusy, isLeaving } from "../../shell/js/hand.js";
import { newId } from "../../shell/js/post.js";

const PATIENCE = 2500; // ms before they are sent again: a run that another one overtakes does nothing
const LATER = 3; // how often this doubles: a slow page must not be restarted for ever

/** @typedef {{verb: string, addresses: string[], matching?: object | null, goes?: string}} Act */

export class Acts {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

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
   * A run of the page says how far it came.
   *
   * @param {{client: string, n: number} | null} [acted]
   */
  take(acted) {
    if (acted?.client !== this.client) return;
    this.entries = this.entries.filter(({ n }) => n > acted.n);
    if (!this.entries.length) clearTimeout(this.timer);
    this.inVain = 0;
  }

  stop() {
    clearTimeout(this.timer);
  }
}
