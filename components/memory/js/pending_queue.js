// Decisions about pending memories, sent one after the other; it knows nothing of the document.

import { newId, post } from "../../shell/js/post.js";

const TRIES = 4;
const AWAY = "The server cannot be reached. Your decisions are kept: reload the page to send them.";

export class PendingQueue {
  data = null;
  requests = []; // {decision, values}, oldest first
  error = "";
  isUnderWay = false;

  /** `store`: where decisions wait for their confirmation, even if the page is loaded again. */
  constructor({ store, changed, sent = post }) {
    Object.assign(this, { store, changed, sent });
    this.requests = store.read() ?? [];
  }

  /** A run of the page gives its data; `run` asks for another. */
  take(data, run) {
    const isNewToken = this.data?.server.token !== data.server.token;
    Object.assign(this, { data, run });
    for (const [id, at] of this.decided) if (at < data.at) this.decided.delete(id); // the run knows it
    if (isNewToken || !this.waitsForRun) this.work();
  }

  decided = new Map(); // when each was confirmed, until a run that began later; both by the server's clock

  /** The entries that wait for a decision of this page, in their order. */
  get entries() {
    const requested = new Set(this.requests.map(({ values }) => values.id));
    return this.data.entries.filter(({ id }) => !requested.has(id) && !this.decided.has(id));
  }

  decide(verb, id = "") {
    this.error = "";
    this.requests.push({ decision: newId(), values: { verb, id } });
    this.store.write(this.requests);
    this.changed();
    this.work();
  }

  async work() {
    if (this.isUnderWay || !this.requests.length) return;
    Object.assign(this, { isUnderWay: true, waitsForRun: false });
    const request = this.requests[0];
    const { server, form } = this.data;
    const { status, text, answer } = await this.sent(server, "form", { form, ...request }, { tries: TRIES });
    this.isUnderWay = false;
    if ([401, 403, 404].includes(status) && !this.hadRun) {
      Object.assign(this, { waitsForRun: true, hadRun: true });
      return this.run(); // which brings another token
    }
    this.hadRun = false;
    if (status === 0 || status >= 500) this.error = text || AWAY;
    else {
      this.requests.shift();
      if (status === 200) this.decided.set(request.values.id, answer.at);
      else {
        this.error = text;
        if (request.values.verb !== "undo") this.dropUndo();
      }
      this.store.write(this.requests);
    }
    this.changed();
    if (this.requests.length && !this.error) return this.work();
    if (status === 200 || status === 409) this.run();
  }

  /** Drops the undo of the decision that was refused: the one behind it, unless it is of a later decision. */
  dropUndo() {
    let undoable = 1;
    const at = this.requests.findIndex(({ values }) => (undoable += values.verb === "undo" ? -1 : 1) === 0);
    if (at >= 0) this.requests.splice(at, 1);
  }
}
