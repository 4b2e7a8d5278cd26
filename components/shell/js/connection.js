// The one stream of a page: what the server tells, from as soon as the page is seen until it is hidden.

/** @import { Server } from "./post.js" */

/** @typedef {{label: string, icon: string, color: string, help: string}} Badge */
/**
 * A job under way; `line` and `figures` say in words how far it is.
 *
 * @typedef {{
 *   id: number,
 *   name: string,
 *   line: string,
 *   figures: string,
 *   fraction: number,
 *   stopping: boolean,
 *   pausable: boolean,
 *   quiet: boolean,
 * }} Job
 */
/**
 * What the server tells, as `read` of components/shell/server/current_state.py makes it: all of it first, then what
 * has changed. `at` is when it was read, in seconds; `answers` are texts of language models by the number of their job.
 *
 * @typedef {{
 *   at: number,
 *   generation: number,
 *   derived: number,
 *   pending: number,
 *   ready: boolean,
 *   prices: boolean,
 *   jobs: string,
 *   open: string,
 *   badges: Badge[],
 *   bars: Job[],
 *   answers: Record<string, string>,
 * }} State
 */

const SILENCE = 50_000; // ms; the server gives a sign of life every 20 s
const SOON = 500; // ms before the first try again, doubled with each
const LATE = 15_000;

export class Connection {
  /** @type {Server | null} */
  place = null;
  /** @type {AbortController | null} */
  reading = null;
  timer = 0;
  watchdog = 0;
  tries = 0;

  /**
   * `tell(message)` for each message, `refused(token)` where the server wants another token.
   *
   * @param {{tell: (message: Partial<State>) => void, refused: (token: string) => void}} listeners
   */
  constructor({ tell, refused }) {
    this.tell = tell;
    this.refused = refused;
    this.seen = () => (document.visibilityState === "visible" ? this.open() : this.close());
    document.addEventListener("visibilitychange", this.seen);
  }

  /** @param {Server} place as the last run of the page says */
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

  /** @param {AbortController} reading @param {Server} place */
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
      if (!answer.ok || !answer.body) throw new Error(`the server answered ${answer.status}`);
      await this.follow(reading, answer.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      // The server is away, or this was closed.
    }
    if (reading !== this.reading) return;
    this.close();
    this.timer = setTimeout(() => this.open(), Math.min(LATE, SOON * 2 ** this.tries++));
  }

  /** @param {AbortController} reading @param {ReadableStreamDefaultReader<string>} pieces */
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

/** Server-sent events as they come in pieces: the JSON after "data: " of each; comments are no events. */
export class Messages {
  #rest = "";

  /**
   * The messages that this piece completes.
   *
   * @param {string} piece
   * @returns {Partial<State>[]}
   */
  read(piece) {
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.filter((block) => block.startsWith("data: ")).map((block) => JSON.parse(block.slice(6)));
  }
}
