// Sending what must be done once, however often it has to be sent: each time with the same key.

const TRIES = 4;
const WAIT = 700; // ms before the second try, doubled with each
const PATIENT = 60_000; // ms for one
const SMALL = 60_000; // characters that a browser still sends while its page is left

export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * {status, text}: the server's answer; status 0 if it cannot be reached. 503 says what the server's machine lacks, 500 the
 * number of an error, which another try would hide; what a proxy answers in the server's place is tried again.
 */
export async function post(url, content) {
  const body = JSON.stringify(content);
  let last = { status: 0, text: "" };
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries) await new Promise((go) => setTimeout(go, WAIT * 2 ** (tries - 1)));
    try {
      const answer = await fetch(url, { method: "POST", body, keepalive: body.length < SMALL, signal: AbortSignal.timeout(PATIENT) });
      last = { status: answer.status, text: await answer.text() };
      if (answer.status <= 500 || answer.status === 503) return last;
    } catch {
      last = { status: 0, text: "" };
    }
  }
  return last;
}
