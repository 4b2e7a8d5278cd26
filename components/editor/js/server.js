// The editor's messages: a refused token is renewed, and an error says where the text is kept.

import { post, postLast } from "../../shell/js/post.js";

// ms until a token is requested again, doubled each time: a page without a connection loses the request
const RENEWAL = 10_000;
const KEPT = "your words are kept in this browser";

export class Server {
  /** `data()`: the page's data with its `server`; `renew` requests a new token from the page. */
  constructor(data, { renew }) {
    this.data = data;
    this.renew = renew;
  }

  /** The answer; throws an error with its reason and `status`, 0 without an answer. */
  async ask(verb, message) {
    const { status, answer, text } = await post(this.data().server, `editor-${verb}`, message, { keepalive: false });
    if (answer) return answer;
    if ([401, 403].includes(status)) this.requestToken();
    throw Object.assign(new Error(reason(status, text)), { status });
  }

  /** The next run of the page brings a new token. */
  requestToken() {
    const { token } = this.data().server;
    if (token !== this.refused) Object.assign(this, { refused: token, wait: RENEWAL, next: 0 });
    if (Date.now() < this.next) return;
    this.next = Date.now() + this.wait;
    this.wait *= 2;
    this.renew();
  }

  /** Sends from a closing page. */
  beacon(verb, message) {
    postLast(this.data().server, `editor-${verb}`, message);
  }
}

function reason(status, text) {
  if (!status) return `the server cannot be reached; ${KEPT} and sent again`;
  if ([401, 403, 503].includes(status)) return `${text}; ${KEPT}`;
  return status === 409 ? text : `the server answered ${status}`;
}
