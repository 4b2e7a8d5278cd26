// Focus and scroll position: both follow the cursor, unless the user moved the focus on purpose.

import { activeIn } from "../../shell/js/elements.js";
import { scrollToTop } from "../../shell/js/streamlit_page.js";

/** @import { Grid } from "./main.js" */

export class Focus {
  following = 0;
  isReturning = false;

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  get cursorNode() {
    return this.grid.cards.nodes.get(this.grid.model.cursor ?? "");
  }

  /** Whether something is open over the cards. */
  get isCovered() {
    const { panel, comparison, tagging } = this.grid;
    return panel.isLarge || comparison.isOpen || tagging.isOpen;
  }

  /**
   * Scrolls to the top for a new query.
   *
   * @param {{focus: boolean}} how
   */
  toTop({ focus }) {
    cancelAnimationFrame(this.following);
    scrollToTop();
    if (focus) this.toCursor({ scroll: false });
  }

  /** Keeps the focus on the card under the cursor, so that keys act on the framed card. */
  keep() {
    const active = activeIn(this.grid.root);
    const node = this.cursorNode;
    if (node && node !== active && this.grid.field.contains(active)) node.focus({ preventScroll: true });
  }

  /**
   * Moves the cursor to a card that was focused without it, as a screen reader does.
   *
   * @param {HTMLElement | undefined} node
   */
  take(node) {
    const address = node?.dataset.address;
    if (!address || address === this.grid.model.cursor || this.isCovered || this.isReturning) return;
    this.grid.model.moveTo(address);
    this.grid.refresh();
  }

  /**
   * Closes a dialog. The browser then focuses the card from which it was opened; the cursor may be on another.
   *
   * @param {HTMLDialogElement} dialog
   */
  close(dialog) {
    this.isReturning = true;
    dialog.close();
    this.isReturning = false;
  }

  /** Scrolls to the cursor after it is painted: doing both at once would force an extra layout. */
  follow() {
    cancelAnimationFrame(this.following);
    this.following = requestAnimationFrame(() => setTimeout(() => this.toCursor()));
  }

  /** From a link that led to this page to the cards, where keys act. */
  leaveLink(link = document.activeElement?.closest("a[href]")) {
    const isOwn = link && addressOf(link).pathname === location.pathname;
    if (isOwn && !this.isCovered) this.cursorNode?.focus({ preventScroll: true });
  }

  toCursor({ scroll = true } = {}) {
    const node = this.cursorNode;
    if (!node || this.isCovered) return;
    const active = document.activeElement;
    const own = [document.body, this.grid.host, this.grid.tools.host];
    if (!active || own.includes(active)) node.focus({ preventScroll: true });
    if (scroll) node.scrollIntoView({ block: "nearest" });
  }
}

/**
 * Where a link leads; that to Streamlit's first page has no name.
 *
 * @param {Element} link
 */
export function addressOf(link) {
  return new URL(link.getAttribute("href") || ".", document.baseURI);
}
