// Server-sent events as they come in pieces: the JSON after "data: " of each; comments are no events.

export class Messages {
  #rest = "";

  /** The messages that this piece completes. */
  read(piece) {
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.filter((block) => block.startsWith("data: ")).map((block) => JSON.parse(block.slice(6)));
  }
}
