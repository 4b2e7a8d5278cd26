// The editor's own routes: what is typed goes beside the page's runs and waits for none.

const PATIENT = 60_000; // ms; a server that never answers must not hold back what is typed next

export class Server {
  /** `data()`: where the routes are, and the token that names the person; `renew` asks the page for another token. */
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
      if (this.data().token !== this.refused) this.renew(); // once for each token: the page's next run brings another
      this.refused = this.data().token;
      throw new Error(`${await answer.text()}; your words are kept in this browser`);
    }
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer.json();
  }

  /** From a page that is going away. */
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
