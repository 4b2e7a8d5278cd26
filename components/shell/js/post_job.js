// Pausing and stopping a job: once for each click, however often it has to be sent.

const TRIES = 4;
const WAIT = 700; // ms before the second try, doubled with each
const PATIENT = 15_000; // ms for one

/** "" once it is done; else why not. */
export async function postJob({ control, token }, request) {
  const key = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const body = JSON.stringify({ token, key, ...request });
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries) await new Promise((go) => setTimeout(go, WAIT * 2 ** (tries - 1)));
    try {
      const answer = await fetch(control, { method: "POST", body, signal: AbortSignal.timeout(PATIENT) });
      if (answer.ok) return "";
      if (answer.status < 500 || answer.status === 503) return await answer.text();
    } catch {
      // sent again with the same key: the server does it once
    }
  }
  return "The server cannot be reached; try again.";
}
