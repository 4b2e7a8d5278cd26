// The editor's keys, with the focus in any place of the page; returns a function that stops listening.

export function listenToKeys(editor) {
  const pressed = (event) => {
    if (!editor.root.isConnected || document.querySelector("[role=dialog]")) return;
    const act = verb(editor, event);
    if (!act) return;
    event.preventDefault(); // the browser would offer to save the page
    event.stopImmediatePropagation();
    act();
  };
  document.addEventListener("keydown", pressed, true);
  return () => document.removeEventListener("keydown", pressed, true);
}

function verb(editor, { key, ctrlKey, metaKey, altKey, shiftKey }) {
  const { previous, following } = editor.data.ways;
  if ((ctrlKey || metaKey) && !altKey) {
    if (key.toLowerCase() === "s") return () => editor.saving.commit();
    if (key === "Enter") return () => editor.saving.commit(shiftKey ? { promote: true } : { next: true });
  } else if (altKey) {
    if (key === "ArrowDown") return () => editor.go(following, "That was the last one of this list.");
    if (key === "ArrowUp") return () => editor.go(previous, "This is the first one of this list.");
    if (key === "Enter") return () => editor.suggesting.acceptAll();
  }
  return null;
}
