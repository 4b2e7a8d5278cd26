// The form for the shared password. The answer sets a cookie, so the page is loaded again.

import { el, part } from "../js/elements.js";

/** @import { Attributes } from "../js/elements.js" */
/** @import { Mount } from "../js/streamlit_page.js" */

/** @param {Mount<{url: string, longest: number}>} mount */
export default function ({ data, parentElement }) {
  const form = part(parentElement, ".memedex-password", HTMLFormElement);
  if (form.childElementCount) return;
  const name = field(form, "Your name", { autocomplete: "username", maxlength: data.longest });
  const password = field(form, "Password", { autocomplete: "current-password", type: "password" });
  const button = el("button", {}, "Log in");
  const message = el("p", { class: "message", role: "alert" });
  form.append(button, message);
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    message.textContent = await send(data.url, { name: name.value, password: password.value });
    button.disabled = false;
    if (message.textContent) password.select();
  };
  name.focus();
}

/** @param {HTMLFormElement} form @param {string} label @param {Attributes} attributes */
function field(form, label, attributes) {
  const input = el("input", { required: true, ...attributes });
  form.append(el("label", {}, label, input));
  return input;
}

/**
 * What went wrong, for people; "" if the page is on its way.
 *
 * @param {string} url
 * @param {{name: string, password: string}} sent
 */
async function send(url, sent) {
  try {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(sent), credentials: "same-origin" });
    if (!answer.ok) return await answer.text();
    location.reload();
    return "";
  } catch {
    return "The server does not answer. Try again.";
  }
}
