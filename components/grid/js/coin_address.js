// The coin in the page's address, `?coin=ADDRESS`: a link shows it, and Back closes it.

const COIN = "coin";
const REST = 250; // ms on one coin: a browser refuses hundreds of changes in a row

/** @type {typeof globalThis & {navigation?: EventTarget, memedexCoin?: CoinAddress}} what all grids of a tab share */
const tab = globalThis;

class CoinAddress {
  heard = /** @type {Set<(coin: string) => void>} */ (new Set()); // called when Back or Forward named another one
  wanted = "";
  timer = 0;
  isGoingBack = false;
  before = location.href;

  constructor() {
    const changed = (/** @type {Event & {from?: {url: string}}} */ { from }) => (this.before = from?.url ?? "");
    tab.navigation?.addEventListener("currententrychange", changed);
    window.addEventListener("popstate", (event) => this.travelled(event), true);
  }

  get named() {
    return new URLSearchParams(location.search).get(COIN) ?? "";
  }

  /**
   * Names this coin, or none. The first has an entry of the history, which the others share.
   *
   * @param {string} coin
   */
  name(coin) {
    this.wanted = coin;
    clearTimeout(this.timer);
    if (coin && this.named) this.timer = setTimeout(() => this.settle(), REST);
    else this.settle();
  }

  settle() {
    const { named, wanted } = this;
    if (this.isGoingBack || named === wanted) return;
    if (!wanted && history.state?.[COIN]) {
      this.isGoingBack = true;
      history.back();
      return;
    }
    const to = new URL(location.href);
    if (wanted) to.searchParams.set(COIN, wanted);
    else to.searchParams.delete(COIN);
    if (named) history.replaceState(history.state, "", to);
    else history.pushState({ [COIN]: true }, "", to);
  }

  /** Streamlit need not run the page because of another coin. @param {PopStateEvent} event */
  travelled(event) {
    const isCoinAlone = this.before !== location.href && withoutCoin(this.before) === withoutCoin(location.href);
    this.before = location.href;
    if (isCoinAlone) event.stopImmediatePropagation();
    const wasOwn = this.isGoingBack;
    this.isGoingBack = false;
    if (wasOwn) return this.settle();
    clearTimeout(this.timer);
    this.wanted = this.named;
    this.heard.forEach((hear) => hear(this.named));
  }
}

/** @param {string} href */
function withoutCoin(href) {
  const url = new URL(href || "about:blank");
  url.searchParams.delete(COIN);
  return url.href;
}

/** The coin of this tab's address; the first call comes before anything else listens to Back. */
export function coinAddress() {
  return (tab.memedexCoin ??= new CoinAddress());
}
