// "Back" leads to what was there before the last click or key. Streamlit makes entries of the browser's history
// that nobody asked for: they replace the entry before. And what is typed into a field replaces the entry of what was
// there: a question gets its own. A link to other parameters of the page that is shown is followed as Back and Forward
// are: the address comes first, and each run has it, so none that overtakes the click loses it. Where there is no
// `navigation`, Streamlit's entries stay.

import { History, isOfThisPage } from "../js/history.js";
import { PAGE_LINK } from "../js/streamlit_page.js";

const GESTURES = ["keydown", "pointerdown"];
const known = new History();
let isListening = false;

function listen() {
  for (const gesture of GESTURES)
    document.addEventListener(gesture, () => known.touch(performance.now()), { capture: true, passive: true });
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target.closest?.(PAGE_LINK);
      if (!link || !isOfThisPage(event, link, location)) return;
      event.preventDefault();
      event.stopPropagation();
      history.pushState(history.state, "", link.href);
      dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
    },
    { capture: true },
  );
  navigation.addEventListener("navigate", (event) => {
    if (event.navigationType === "traverse") known.arrive(performance.now());
    if (!event.destination.sameDocument || event.hashChange || !event.cancelable) return;
    const to = new URL(event.destination.url);
    if (event.navigationType === "push" && known.isUnasked(to, { from: location, now: performance.now() })) {
      event.preventDefault();
      history.replaceState(history.state, "", to);
    } else if (event.navigationType === "replace" && known.isQuestion(to, { from: location })) {
      event.preventDefault();
      history.pushState(history.state, "", to);
    }
  });
}

export default function () {
  if (isListening || !window.navigation) return;
  isListening = true;
  known.arrive(performance.now());
  listen();
  document.documentElement.dataset.history = "kept"; // from now on; tests wait for it
}
