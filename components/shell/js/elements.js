// Elements: made, written and arranged. Names and other texts become text, never markup.

/** @typedef {Node | string | null | undefined} Child */
/** @typedef {string | number | boolean | null | undefined} Attribute */
/**
 * Attributes by name, and listeners as `on…`.
 *
 * @typedef {{[Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void}
 *   & {[name: string]: Attribute | ((event: never) => void)}} Attributes
 */

/**
 * One element: attributes as given, `on…` as listeners, texts as text nodes; null children are left out.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/**
 * The element with this selector, which a component's own markup has.
 *
 * @template {Element} Kind
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => Kind} kind
 */
export function part(parent, selector, kind) {
  const found = parent.querySelector(selector);
  if (!(found instanceof kind)) throw new TypeError(`no ${kind.name} is at ${selector}`);
  return found;
}

/**
 * What has the focus in the document or the component that this node is part of.
 *
 * @param {Node} node
 */
export function activeIn(node) {
  const root = node.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}

/**
 * A character as an attribute of the button that it presses.
 *
 * @param {string} key
 */
export function shortcut(key) {
  return key === key.toLowerCase() ? key : `Shift+${key.toLowerCase()}`;
}

/** @param {string} name of Streamlit's own icon font */
export function symbol(name) {
  return el("span", { class: "icon", "aria-hidden": "true" }, name);
}

/**
 * Sets a node's text only if it differs, in its existing text node, to keep the layout work small.
 *
 * @param {Node | null} node
 * @param {string} text
 */
export function setText(node, text) {
  const only = node?.childNodes.length === 1 && node.firstChild instanceof Text ? node.firstChild : null;
  if (only && only.data !== text) only.data = text;
  if (node && !only && node.textContent !== text) node.textContent = text;
}

/**
 * Sets only the attributes that change: each write recomputes the style of the node.
 *
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** @param {HTMLElement} node @param {boolean} hidden */
export function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

/**
 * Gives a node these children in this order, and does not touch those that are at their place: a browser forgets the
 * focus of a button that is taken out, and its press, so that no click follows, even if it is put back at once.
 *
 * @param {Node} parent
 * @param {ChildNode[]} nodes
 */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!wanted.has(node)) node.remove();
  nodes.forEach(
    (node, at) => parent.childNodes[at] === node || parent.insertBefore(node, parent.childNodes[at] ?? null),
  );
}

/** @type {WeakMap<Node, Map<string, ChildNode>>} parent → its nodes by their names */
const filled = new WeakMap();

/**
 * Gives a node one child for each item, which it keeps as long as there is an equal item: `make(item)` makes it, from
 * the item and `more`. Returns the children.
 *
 * @template Item
 * @template {ChildNode} Made
 * @param {Node} parent
 * @param {Item[]} items
 * @param {(item: Item) => Made} make
 * @param {unknown[]} more
 * @returns {Made[]}
 */
export function fill(parent, items, make, ...more) {
  const before = /** @type {Map<string, Made> | undefined} */ (filled.get(parent));
  /** @type {Map<string, Made>} */
  const now = new Map();
  for (const item of items) {
    let own = JSON.stringify([item, ...more]);
    while (now.has(own)) own += " "; // a second one
    now.set(own, before?.get(own) ?? make(item));
  }
  filled.set(parent, now);
  const nodes = [...now.values()];
  arrange(parent, nodes);
  return nodes;
}
