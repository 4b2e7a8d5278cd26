// What a map lacks is requested independently of the page's runs, one request at a time.

import { post } from "../../shell/js/post.js";

const SOON = 500; // ms before the first try again, doubled with each
const LATE = 15_000;

export class Requests {
  /**
   * `lacking()`: {server, message} of the next request, null for none; `came(message, answer)` takes what it brought.
   */
  constructor({ lacking, came }) {
    this.lacking = lacking;
    this.came = came;
    this.tries = 0;
  }

  /** Requests all that is lacking, unless that is under way. */
  async run() {
    if (this.isUnderWay) return;
    clearTimeout(this.timer);
    this.isUnderWay = true;
    for (let next = this.lacking(); next; next = this.lacking()) {
      const { answer, status } = await post(next.server, "map-points", next.message, { keepalive: false });
      const isRefused = status >= 400 && status < 500;
      if (isRefused || this.isStopped) break; // the page's next run brings another token, or another sheet
      if (!answer) {
        this.timer = setTimeout(() => this.run(), Math.min(LATE, SOON * 2 ** this.tries++));
        break;
      }
      this.tries = 0;
      this.came(next.message, answer);
    }
    this.isUnderWay = false;
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }
}
