// The page's own search field, which is outside this component and may load after it.

const PLACE = "[class*=_words], .st-key-q"; // by the keys of the two lines: above a grid, and on the search page

export function filterField() {
  return document.querySelector(PLACE)?.querySelector("input") ?? null;
}

/** Focuses the field. While Streamlit loads it, keys are kept for it; otherwise they would decide coins. */
export class FilterField {
  focus() {
    if (!document.querySelector(PLACE)) return false;
    if (!this.enter()) {
      this.typed = "";
      this.watcher = new MutationObserver(() => this.enter());
      this.watcher.observe(document.body, { childList: true, subtree: true });
    }
    return true;
  }

  /** Whether this key was kept for the field. */
  holds({ key, ctrlKey, metaKey }) {
    if (!this.watcher || ctrlKey || metaKey) return false;
    if (key === "Escape") this.stop();
    else if (key === "Backspace") this.typed = this.typed.slice(0, -1);
    else if (key.length === 1) this.typed += key;
    return true;
  }

  enter() {
    const field = filterField();
    if (!field) return false;
    field.focus();
    if (this.typed) {
      // React notices a value only if it is set with the element's native setter.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, this.typed);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.stop();
    return true;
  }

  stop() {
    this.watcher?.disconnect();
    this.watcher = this.typed = null;
  }
}
