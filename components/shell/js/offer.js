// "3 new coins · Show": a quiet button at the foot of the window, while the person at the page is in the middle of
// something.

export class Offer {
  constructor(run) {
    this.node = document.createElement("button");
    this.node.className = "offer";
    this.node.type = "button";
    this.node.addEventListener("click", run);
  }

  show(place, words) {
    const text = `${words} · Show`;
    if (this.node.textContent !== text) this.node.textContent = text;
    if (this.node.parentNode !== place) place.append(this.node);
  }

  hide() {
    this.node.remove();
  }
}
