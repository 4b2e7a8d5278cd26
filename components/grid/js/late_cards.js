// Cards of results that came up while a slider moves: asked for beside the page's runs, some at a time.

const AT_ONCE = 200;

export class LateCards {
  /** `asked()` says where to ask, for which question and with which token; `came(cards)` takes the answer. */
  constructor({ asked, came }) {
    this.asked = asked;
    this.came = came;
    this.wanted = new Set();
    this.known = new Set(); // rows asked for once: what has no card by now is not asked for for ever
  }

  want(row) {
    const { query } = this.asked();
    if (query !== this.query) this.known.clear(), this.wanted.clear(), (this.query = query);
    if (this.known.has(row)) return;
    this.wanted.add(row);
    this.timer ??= setTimeout(() => this.fetch());
  }

  async fetch() {
    const { url, query, token } = this.asked();
    const rows = [...this.wanted].slice(-AT_ONCE); // those seen last: a hand that goes on has left the others behind
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

/** The cards; null where the server does not know the question any more: it sends them when the hand rests. */
async function ask(url, body) {
  try {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    return answer.ok ? (await answer.json()).cards : null;
  } catch {
    return null;
  }
}
