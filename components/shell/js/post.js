// Messages of pages to the server (components/shell/server/messages.py); what is sent again has the same id.

const WAIT = 700; // ms before the second try, doubled with each
const PATIENT = 60_000; // ms for one
const SMALL = 60_000; // bytes that a browser still sends while its page is left; for all such messages together 65,536

/** @typedef {{url: string, token: string}} Server */
/** @typedef {{status: number, text: string, answer?: any}} Result */

/** @type {typeof globalThis & {memedexDecisions?: Set<string>}} */
const tab = globalThis;

/** The id of a decision: a UUID, made here because only the page knows what is pressed once. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // crypto.randomUUID is missing on plain http
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  (tab.memedexDecisions ??= new Set()).add(id);
  return id;
}

/**
 * Whether this tab made a decision, on any of its pages since it was loaded.
 *
 * @param {string} id
 */
export function isOwn(id) {
  return Boolean(tab.memedexDecisions?.has(id));
}

/**
 * Sends a message of this kind. Returns the answer as JSON or a blob, or why there is none; status 0 if the server
 * cannot be reached. A further try is made where that may help: 503 says what the server's machine lacks, 500 the
 * number of an error, which another try would hide. It is sent even while its page is left, unless its answer is all
 * that matters (`keepalive: false`).
 *
 * @param {Server} server
 * @param {string} kind
 * @param {object} message
 * @returns {Promise<Result>}
 */
export async function post({ url, token }, kind, message, { tries = 1, keepalive = true } = {}) {
  const body = JSON.stringify({ token, ...message });
  const init = { method: "POST", body, keepalive: keepalive && new Blob([body]).size < SMALL };
  let last = { status: 0, text: "" };
  for (let tried = 0; tried < tries; tried += 1) {
    if (tried) await new Promise((go) => setTimeout(go, WAIT * 2 ** (tried - 1)));
    try {
      const answer = await fetch(`${url}/${kind}`, { ...init, signal: AbortSignal.timeout(PATIENT) });
      if (answer.ok) return { status: answer.status, text: "", answer: await contentOf(answer) };
      last = { status: answer.status, text: await answer.text() };
      if (answer.status <= 500 || answer.status === 503) return last;
    } catch {
      last = { status: 0, text: "" };
    }
  }
  return last;
}

/**
 * Sends from a page that is being closed, which hears no answer.
 *
 * @param {Server} server
 * @param {string} kind
 * @param {object} message
 */
export function postLast({ url, token }, kind, message) {
  navigator.sendBeacon?.(`${url}/${kind}`, JSON.stringify({ token, ...message }));
}

/**
 * JSON, or a picture as a blob; throws for anything else, which is a proxy's page in the server's place.
 *
 * @param {Response} answer
 * @returns {Promise<any>}
 */
function contentOf(answer) {
  const type = answer.headers.get("Content-Type") ?? "";
  if (type.startsWith("application/json")) return answer.json();
  if (type.startsWith("image/")) return answer.blob();
  throw new TypeError(`an answer of another type: ${type}`);
}
