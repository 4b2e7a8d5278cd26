// The one stream of a page: what the server tells, from as soon as the page is seen until it is hidden.

import { Messages } from "./messages.js";

const SILENCE = 50_000; // ms; the server gives a sign of life every 20 s
const SOON = 500; // ms before the first try again, doubled with each
const LATE = 15_000;

export class Connection {
  /** `tell(message)` for each message, `refused(token)` where the server wants another token. */
  constructor({ tell, refused }) {
    this.tell = tell;
    this.refused = refused;
    this.tries = 0;
    this.place = null; // {url, token}
    this.seen = () => (document.visibilityState === "visible" ? this.open() : this.close());
    document.addEventListener("visibilitychange", this.seen);
  }

  /** Where it is, and the token: as the last run of the page says. */
  at(place) {
    const isAnother = this.place?.token !== place.token || this.place?.url !== place.url;
    this.place = place;
    if (isAnother) this.close();
    this.open();
  }

  open() {
    // A hidden tab holds none: a browser has six connections to a server, and a seventh tab would wait for ever.
    if (this.reading || !this.place || document.visibilityState !== "visible") return;
    clearTimeout(this.timer);
    this.reading = new AbortController();
    this.read(this.reading, this.place);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.watchdog);
    this.reading?.abort();
    this.reading = null;
  }

  stop() {
    document.removeEventListener("visibilitychange", this.seen);
    this.place = null;
    this.close();
  }

  async read(reading, { url, token }) {
    try {
      const answer = await fetch(url, {
        headers: { "X-Memedex-Token": token },
        signal: reading.signal,
        cache: "no-store",
      });
      if ([401, 403].includes(answer.status)) {
        if (reading !== this.reading) return;
        this.reading = null;
        return this.refused(token); // another try would be in vain before the page's next run
      }
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      await this.follow(reading, answer.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      // The server is away, or this was closed.
    }
    if (reading !== this.reading) return;
    this.close();
    this.timer = setTimeout(() => this.open(), Math.min(LATE, SOON * 2 ** this.tries++));
  }

  async follow(reading, pieces) {
    const messages = new Messages();
    for (;;) {
      clearTimeout(this.watchdog);
      this.watchdog = setTimeout(() => reading.abort(), SILENCE);
      const { value, done } = await pieces.read();
      if (done || reading !== this.reading) return;
      for (const message of messages.read(value)) {
        this.tries = 0;
        this.tell(message);
      }
    }
  }
}
