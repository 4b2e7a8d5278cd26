// Whoever follows a link and has to log in first is brought back to the first page; this leads on to what the link meant.

const WANTED = "memedex.wanted";

export default function ({ data }) {
  if (data.asks) return sessionStorage.setItem(WANTED, location.href);
  const wanted = sessionStorage.getItem(WANTED);
  sessionStorage.removeItem(WANTED);
  if (wanted && wanted !== location.href && location.pathname.endsWith("/")) location.replace(wanted);
}
