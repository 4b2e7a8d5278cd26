// After a login, Streamlit opens the first page; this continues to the page of the original link.

const WANTED = "memedex.wanted";

/** @param {import("../js/streamlit_page.js").Mount<{asks: boolean}>} mount */
export default function ({ data }) {
  if (data.asks) return sessionStorage.setItem(WANTED, location.href);
  const wanted = sessionStorage.getItem(WANTED);
  sessionStorage.removeItem(WANTED);
  if (wanted && wanted !== location.href && location.pathname.endsWith("/")) location.replace(wanted);
}
