// Streamlit switches pages in two steps: first the other page's query at this page's path, then the other
// path. "Back" would lead to the first step, where this page's own query is gone, so the second replaces it.

const AT_ONCE = 3000; // ms between the two, at most

export default function () {
  if (history.memedexBack) return;
  history.memedexBack = true;
  const push = history.pushState.bind(history);
  let step = null;
  history.pushState = (state, title, url) => {
    const to = new URL(url, location.href);
    const isSecond = step && to.pathname !== location.pathname && to.search === step.search && performance.now() - step.at < AT_ONCE;
    step = to.pathname === location.pathname ? { search: to.search, at: performance.now() } : null;
    if (isSecond) history.replaceState(state, title, url);
    else push(state, title, url);
  };
}
