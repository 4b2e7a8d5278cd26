// Elements and icons of Streamlit's own icon font. Names and other texts become text, never markup.

/** One element with these children; strings become text. */
export function el(tag, name, ...children) {
  const node = document.createElement(tag);
  node.className = name;
  node.append(...children);
  return node;
}

/** Gives a node this text unless it has it already. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function icon(name) {
  const node = el("span", "icon", name);
  node.setAttribute("aria-hidden", "true");
  return node;
}
