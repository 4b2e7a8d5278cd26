// The editor's messages: a refused token is renewed, and an error says where the text is kept.

import { post, postLast } from "../../shell/js/post.js";

/** @import { Server as Place } from "../../shell/js/post.js" */
/** @import { Draft } from "./draft_store.js" */

/** @typedef {{who: string, when: string}} WhoWhen */
/** @typedef {{author: string, prompt: string, edited: boolean}} WrittenBy a model; a person may have edited its text */
/** @typedef {Record<string, string | null>} Caption a text for each facet: "" is left empty, null not written */
/** @typedef {{caption: Caption, tags: string[]}} Words */
/**
 * A coin as the editor shows it (`content` of components/editor/content.py).
 *
 * @typedef {{
 *   address: string,
 *   name: string,
 *   ticker: string,
 *   tier: string,
 *   description: string,
 *   picture: string,
 *   revision: number,
 *   stored: Words,
 *   changed: WhoWhen | null,
 *   wrote: Record<string, WhoWhen & Partial<WrittenBy>>,
 *   draft: Draft | null,
 *   suggestions: Proposed,
 *   others: WhoWhen[],
 * }} Content
 */
/**
 * A text for one facet, or tags divided by commas, that a model suggests.
 *
 * @typedef {{
 *   id: number,
 *   facet: string,
 *   text: string,
 *   model: string,
 *   author: string,
 *   prompt: string,
 *   hint: string,
 *   when: string,
 * }} Suggestion
 */
/** @typedef {{at: number, asking: boolean, open: Suggestion[]}} Proposed as read at a moment, newest first */
/** @typedef {{tokens: number, limit: number, windows: number, first: number}} Reach of the model into a text */
/** @typedef {{address: string, name: string, picture: string, text: string, cosine: number}} Neighbour */
/**
 * The coins nearest to a text, and how well it finds its own picture; `waits` while the model is being loaded.
 *
 * @typedef {{
 *   waits?: boolean,
 *   neighbours?: Neighbour[],
 *   agreement?: number,
 *   place?: number | null,
 *   pictures?: number,
 * }} Nearest
 */
/**
 * @typedef {WhoWhen & {
 *   id: number,
 *   verb: string,
 *   undone: boolean,
 *   before: Words,
 *   after: Words,
 *   sources: Record<string, WrittenBy>,
 * }} Revision
 */
/**
 * What the server answers to each message (components/editor/messages.py).
 *
 * @typedef {{
 *   keep: {elsewhere?: Draft},
 *   discard: {elsewhere?: Draft},
 *   own: {draft: Draft | null},
 *   commit: {conflict?: Content, saved?: Content},
 *   promote: {},
 *   measure: Record<string, Reach>,
 *   look: Nearest,
 *   history: {revisions: Revision[]},
 *   suggest: Proposed & {job: number},
 *   nearest: Proposed & {why: string},
 *   suggestions: Proposed & {why: string},
 *   refuse: Proposed,
 * }} Answers
 */
/** @typedef {Error & {status?: number}} Refusal 409 with a reason for people, 0 if there was no answer */

// ms until a token is requested again, doubled each time: a page without a connection loses the request
const RENEWAL = 10_000;
const KEPT = "your words are kept in this browser";

export class Server {
  refused = ""; // the token
  wait = RENEWAL;
  next = 0;

  /**
   * `data()`: the page's data with its `server`; `renew` requests a new token from the page.
   *
   * @param {() => {server: Place}} data
   * @param {{renew: () => void}} seams
   */
  constructor(data, { renew }) {
    this.data = data;
    this.renew = renew;
  }

  /**
   * The answer; throws a Refusal without one.
   *
   * @template {keyof Answers} Verb
   * @param {Verb} verb
   * @param {object} message
   * @returns {Promise<Answers[Verb]>}
   */
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

  /**
   * Sends from a closing page.
   *
   * @param {keyof Answers} verb
   * @param {object} message
   */
  beacon(verb, message) {
    postLast(this.data().server, `editor-${verb}`, message);
  }
}

/**
 * Why there is no answer, for people.
 *
 * @param {unknown} error
 */
export function whyNot(error) {
  const { status, message } = /** @type {Refusal} */ (error);
  return status === 409 ? message : "No answer from the server.";
}

/** @param {number} status @param {string} text */
function reason(status, text) {
  if (!status) return `the server cannot be reached; ${KEPT} and sent again`;
  if ([401, 403, 503].includes(status)) return `${text}; ${KEPT}`;
  return status === 409 ? text : `the server answered ${status}`;
}
