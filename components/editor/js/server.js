// The editor's own routes: drafts are sent independently of the page's runs.

const PATIENT = 60_000; // ms; a server that never answers must not block later drafts
const RENEWAL = 10_000; // ms until a token is requested again, doubled each time: a page without a connection loses the request

export class Server {
  /** `data()`: the routes and the person's token; `renew` requests a new token from the page. */
  constructor(data, { renew }) {
    this.data = data;
    this.renew = renew;
  }

  async ask(verb, body) {
    let answer;
    try {
      answer = await fetch(this.route(verb), { method: "POST", body: this.signed(body), signal: AbortSignal.timeout(PATIENT) });
    } catch {
      throw new Error("the server cannot be reached; your words are kept in this browser and sent again");
    }
    if ([401, 403].includes(answer.status)) {
      this.requestToken();
      throw new Error(`${await answer.text()}; your words are kept in this browser`);
    }
    if (answer.status === 503) throw new Error(`${await answer.text()}; your words are kept in this browser`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer.json();
  }

  /** The next run of the page brings a new token. */
  requestToken() {
    const { token } = this.data();
    if (token !== this.refused) Object.assign(this, { refused: token, wait: RENEWAL, next: 0 });
    if (Date.now() < this.next) return;
    this.next = Date.now() + this.wait;
    this.wait *= 2;
    this.renew();
  }

  /** Sends from a closing page. */
  beacon(verb, body) {
    navigator.sendBeacon?.(this.route(verb), this.signed(body));
  }

  route(verb) {
    return `${this.data().routes}/${verb}`;
  }

  signed(body) {
    return JSON.stringify({ token: this.data().token, ...body });
  }
}
