// One form from the first letter to the page's run after its confirmation; it knows nothing of the document.

import { newId, post } from "./post.js";

const AGAIN = 3000; // ms until a run that did not come is asked for again
const TRIES = 4;
const RUNS = 5; // that are asked for, at most
const AWAY = "The server cannot be reached. What you typed is kept: try again.";
const BEHIND = "The page does not show yet what was chosen: try again.";

/** @import { Server } from "./post.js" */
/** @import { Store } from "./storage.js" */

/** @typedef {string | number | string[] | null} Value */
/** @typedef {Record<string, Value>} Values */
/** @typedef {{decision: string, values: Values}} Request */
/** @typedef {{server: Server, form: string, base?: Values, at: number, afterRun?: boolean}} Data */

export class Sending {
  /** @type {Values} */
  values = {}; // what was typed, by field
  /** @type {Request | null} */
  request = null; // until the server has confirmed or refused it
  timer = 0;
  left = 0; // until it is forgotten, once its form is gone
  isUnderWay = false;
  waitsForRun = false;
  hadRun = false;
  confirmedAt = 0; // the server's time
  error = "";

  /**
   * `store`: where a request waits for its confirmation, even if the page is loaded again; `changed()` draws;
   * `rest()`: whether the page has come to rest, once it has.
   *
   * @param {{
   *   store: Store<Request>,
   *   changed: () => unknown,
   *   rest?: () => Promise<boolean>,
   *   sent?: typeof post,
   * }} seams
   */
  constructor({ store, changed, rest = async () => true, sent = post }) {
    this.store = store;
    this.changed = changed;
    this.rest = rest;
    this.sent = sent;
    this.data = /** @type {Data} */ (/** @type {unknown} */ (undefined)); // until the first run gives its data
    this.run = () => {};
    this.request = store.read();
    if (this.request) this.values = this.request.values;
  }

  get isBusy() {
    return this.isUnderWay || this.waitsForRun;
  }

  /**
   * A run of the page gives its data; `run` asks for another.
   *
   * @param {Data} data
   * @param {() => void} run
   */
  take(data, run) {
    const isNewer = !this.data || data.at > this.data.at;
    this.data = data;
    this.run = run;
    if (this.confirmedAt && data.at > this.confirmedAt) this.finish();
    const waits = this.request && !this.error && isSame(this.request.values, this.values); // as after a reload
    const isReady = this.waitsForRun ? isNewer : waits;
    if (isReady && !this.isUnderWay) this.attempt();
  }

  /**
   * Keeps what is typed in a field, with the base of the form at that moment: what the page showed.
   *
   * @param {string} name
   * @param {Value} value
   */
  type(name, value) {
    Object.assign(this, { values: { ...this.data.base, ...this.values, [name]: value }, error: "" });
  }

  /**
   * Sends what is typed; unchanged, after the server was away, it is the same request.
   *
   * @param {Values} typed
   */
  send(typed) {
    if (this.isBusy || this.confirmedAt) return;
    const values = { ...this.data.base, ...this.values, ...typed };
    this.values = values;
    if (!this.request || !isSame(this.request.values, values)) this.request = { decision: newId(), values };
    this.store.write(this.request);
    this.hadRun = false;
    this.attempt();
  }

  async attempt() {
    Object.assign(this, { isUnderWay: true, waitsForRun: false, error: "" });
    this.changed();
    const isAtRest = !this.data.afterRun || (await this.rest());
    const { data, request } = this; // of the run that was waited for
    const send = () => this.sent(data.server, "form", { form: data.form, ...request }, { tries: TRIES });
    const { status, text, answer } = isAtRest ? await send() : { status: 409, text: BEHIND };
    this.isUnderWay = false;
    if (status === 200) this.confirm(answer.at);
    else if ([401, 403, 404].includes(status) && !this.hadRun)
      this.waitForRun(); // the page's run brings another token
    else if (status === 0 || status >= 500) this.error = status ? text || AWAY : AWAY;
    else this.refuse(text);
    this.changed();
  }

  /** @param {number} at */
  confirm(at) {
    this.forgetRequest();
    this.confirmedAt = at;
    this.askForRun();
  }

  /** @param {string} text */
  refuse(text) {
    this.forgetRequest();
    this.error = text;
  }

  forgetRequest() {
    this.request = null;
    this.store.write(null);
  }

  waitForRun() {
    Object.assign(this, { waitsForRun: true, hadRun: true });
    this.askForRun();
  }

  askForRun(times = 1) {
    this.run();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.confirmedAt || this.waitsForRun) times < RUNS ? this.askForRun(times + 1) : this.finish();
    }, AGAIN * times);
  }

  /** The page shows what was confirmed: the form is empty again. */
  finish() {
    clearTimeout(this.timer);
    if (this.waitsForRun) this.error = AWAY;
    else this.values = {};
    Object.assign(this, { confirmedAt: 0, waitsForRun: false });
    this.changed();
  }
}

/**
 * @param {Values} values
 * @param {Values} others
 */
function isSame(values, others) {
  return JSON.stringify(values) === JSON.stringify(others);
}
