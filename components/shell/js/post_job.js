// Pausing and stopping a job: once for each click, however often it has to be sent.

import { newKey, post } from "./post.js";

/** "" once it is done; else why not. */
export async function postJob({ control, token }, request) {
  const { status, text } = await post(control, { token, key: newKey(), ...request });
  if (status === 200) return "";
  return (0 < status && status <= 500) || status === 503 ? text : "The server cannot be reached; try again.";
}
