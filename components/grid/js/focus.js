// Where the focus is and what is in sight: both go along with the cursor, unless somebody put the focus elsewhere on purpose.

export class Focus {
  constructor(grid) {
    this.grid = grid;
  }

  get cursorNode() {
    return this.grid.cards.nodes.get(this.grid.model.cursor);
  }

  /** Whether something is open over the cards. */
  get isCovered() {
    const { viewer, comparison, tagging } = this.grid;
    return viewer.isOpen || comparison.isOpen || tagging.isOpen;
  }

  /** The answer to another question is read from its beginning. */
  toTop({ focus }) {
    cancelAnimationFrame(this.following);
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
    if (focus) this.toCursor({ scroll: false });
  }

  /** A card that has the focus is the one under the cursor: a key acts on the one that is framed. */
  keep() {
    const active = this.grid.root.getRootNode().activeElement;
    const node = this.cursorNode;
    if (node && node !== active && this.grid.parts.field.contains(active)) node.focus({ preventScroll: true });
  }

  /** Keeps the cursor in sight once it is painted: asked for at once, both would lay the page out in between. */
  follow() {
    cancelAnimationFrame(this.following);
    this.following = requestAnimationFrame(() => setTimeout(() => this.toCursor()));
  }

  toCursor({ scroll = true } = {}) {
    const node = this.cursorNode;
    if (!node || this.isCovered) return;
    const active = document.activeElement;
    if (!active || active === document.body || active === this.grid.root.getRootNode().host) node.focus({ preventScroll: true });
    if (scroll) node.scrollIntoView({ block: "nearest" });
  }
}
