// A film of the map, recorded as it is drawn, and saved as a file.

/** @typedef {{ground: string, text: string, font: string, caption: string}} Look what is below and around the map */

const KINDS = [
  ["video/webm;codecs=vp9", "webm"],
  ["video/webm", "webm"],
  ["video/mp4", "mp4"],
];
const PER_SECOND = 30;
const BITS = 6_000_000; // per second
const MARGIN = 24; // px around the caption

/** Whether this browser can record. */
export function canRecord() {
  return typeof MediaRecorder === "function" && kind() !== undefined;
}

function kind() {
  return KINDS.find(([type]) => MediaRecorder.isTypeSupported(type));
}

export class Film {
  /** @type {Blob[]} */
  parts = [];
  waiting = 0; // the request for the next frame

  /**
   * Begins to record this canvas over a ground, with a caption below.
   *
   * @param {HTMLCanvasElement} canvas
   * @param {() => Look} look
   */
  constructor(canvas, look) {
    const [type, ending] = /** @type {string[]} */ (kind());
    this.ending = ending;
    const film = document.createElement("canvas");
    [film.width, film.height] = [even(canvas.width), even(canvas.height)];
    const pen = /** @type {CanvasRenderingContext2D} */ (film.getContext("2d"));
    const draw = () => {
      const { ground, text, font, caption } = look();
      pen.fillStyle = ground;
      pen.fillRect(0, 0, film.width, film.height);
      pen.drawImage(canvas, 0, 0);
      pen.font = font;
      pen.fillStyle = text;
      pen.fillText(caption, MARGIN, film.height - MARGIN);
      this.waiting = requestAnimationFrame(draw);
    };
    draw();
    this.recorder = new MediaRecorder(film.captureStream(PER_SECOND), { mimeType: type, videoBitsPerSecond: BITS });
    this.recorder.addEventListener("dataavailable", ({ data }) => this.parts.push(data));
    this.recorder.start();
  }

  /** Ends the film and saves it under this name. @param {string} name without ending */
  save(name) {
    this.recorder.addEventListener("stop", () => {
      const address = URL.createObjectURL(new Blob(this.parts, { type: this.recorder.mimeType }));
      const link = document.createElement("a");
      Object.assign(link, { href: address, download: `${name}.${this.ending}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000); // a browser may ask first where to put it
    });
    this.discard();
  }

  /** Ends the film. */
  discard() {
    cancelAnimationFrame(this.waiting);
    if (this.recorder.state !== "inactive") this.recorder.stop();
  }
}

/** @param {number} size @returns the largest even number up to it: encoders take no other */
function even(size) {
  return size - (size % 2);
}
