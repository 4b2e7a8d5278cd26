// Cards of results that appear while a slider moves: requested independently of the page's runs, in batches.

import { post } from "../../shell/js/post.js";

const AT_ONCE = 200;

export class DeferredCards {
  /** `request()` gives the server and the query; `came(cards)` receives the answer. */
  constructor({ request, came }) {
    this.request = request;
    this.came = came;
    this.wanted = new Set();
    this.known = new Set(); // rows requested before: a missing card is not requested again
  }

  want(row) {
    const { query } = this.request();
    if (query !== this.query) {
      this.known.clear();
      this.wanted.clear();
      this.query = query;
    }
    if (this.known.has(row)) return;
    this.wanted.add(row);
    this.timer ??= setTimeout(() => this.fetch());
  }

  async fetch() {
    const { server, query } = this.request();
    const rows = [...this.wanted].slice(-AT_ONCE); // the most recent rows: earlier ones are out of sight again
    this.wanted.clear();
    const { answer } = await post(server, "cards", { query, rows }, { keepalive: false });
    this.timer = this.wanted.size ? setTimeout(() => this.fetch()) : null;
    if (!answer || query !== this.query) return; // a server that forgot the query sends them when the slider rests
    rows.forEach((row) => this.known.add(row));
    if (answer.cards.length) this.came(answer.cards);
  }

  stop() {
    clearTimeout(this.timer);
    this.came = () => {};
  }
}
