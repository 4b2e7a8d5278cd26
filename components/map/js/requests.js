// What a map lacks is requested beside the page's runs, one request at a time.

const SOON = 500; // ms before the first try again, doubled with each
const LATE = 15_000;
const PATIENT = 60_000; // ms for one

export class Requests {
  /** `lacking()`: {url, body} of the next request, null for none; `came(body, answer)` takes what it brought. */
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
      const { answer, isRefused } = await ask(next);
      if (isRefused || this.isStopped) break; // the page's next run brings another token, or another sheet
      if (!answer) {
        this.timer = setTimeout(() => this.run(), Math.min(LATE, SOON * 2 ** this.tries++));
        break;
      }
      this.tries = 0;
      this.came(next.body, answer);
    }
    this.isUnderWay = false;
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }
}

async function ask({ url, body }) {
  try {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(PATIENT) });
    if (answer.ok) return { answer: await answer.json() };
    return { isRefused: answer.status < 500 };
  } catch {
    return {};
  }
}
