// Children that stay in the document while their parent is drawn again.
// A browser forgets the press of a button that is taken out, even if it is put back at once, so that no click
// follows, and its focus.

const filled = new WeakMap(); // parent → its nodes by their names

/** Gives a node these children in this order. Those that are at their place are not touched. */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!wanted.has(node)) node.remove();
  nodes.forEach(
    (node, at) => parent.childNodes[at] === node || parent.insertBefore(node, parent.childNodes[at] ?? null),
  );
}

/**
 * Gives a node one child for each item, which it keeps as long as there is an item of this name: `make(item)` makes
 * it, and `name(item)` says all on which that depends. Returns the children.
 */
export function fill(parent, items, name, make) {
  const before = filled.get(parent) ?? new Map();
  const now = new Map();
  for (const item of items) {
    let own = JSON.stringify(name(item));
    while (now.has(own)) own += " "; // a second one
    now.set(own, before.get(own) ?? make(item));
  }
  filled.set(parent, now);
  const nodes = [...now.values()];
  arrange(parent, nodes);
  return nodes;
}
