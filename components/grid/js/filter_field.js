// The page's own field for words, which lies outside this component and may be loaded after it.

const PLACE = "[class*=_words], .st-key-q"; // by the keys of the two lines that can be asked: above a grid, and the search line

export function filterField() {
  return document.querySelector(PLACE)?.querySelector("input") ?? null;
}

/** To the field. While Streamlit is still loading it, what is typed is held for it: as keys it would decide coins. */
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

  /** Whether this key was held for the field. */
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
      // React hears of a value only when the element's own setter is used.
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
