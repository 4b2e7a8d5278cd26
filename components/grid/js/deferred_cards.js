// Cards of results that appear while a slider moves: requested independently of the page's runs, in batches.

const AT_ONCE = 200;

export class DeferredCards {
  /** `request()` gives the route, the query and the token; `came(cards)` receives the answer. */
  constructor({ request, came }) {
    this.request = request;
    this.came = came;
    this.wanted = new Set();
    this.known = new Set(); // rows requested before: a missing card is not requested again
  }

  want(row) {
    const { query } = this.request();
    if (query !== this.query) this.known.clear(), this.wanted.clear(), (this.query = query);
    if (this.known.has(row)) return;
    this.wanted.add(row);
    this.timer ??= setTimeout(() => this.fetch());
  }

  async fetch() {
    const { url, query, token } = this.request();
    const rows = [...this.wanted].slice(-AT_ONCE); // the most recent rows: earlier ones are out of sight again
    this.wanted.clear();
    const cards = await ask(url, { query, token, rows });
    this.timer = this.wanted.size ? setTimeout(() => this.fetch()) : null;
    if (!cards || query !== this.query) return;
    rows.forEach((row) => this.known.add(row));
    if (cards.length) this.came(cards);
  }

  stop() {
    clearTimeout(this.timer);
    this.came = () => {};
  }
}

/** The cards; null if the server has forgotten the query: it sends them when the slider rests. */
async function ask(url, body) {
  try {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    return answer.ok ? (await answer.json()).cards : null;
  } catch {
    return null;
  }
}
