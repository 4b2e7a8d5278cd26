// What a map lacks is requested independently of the page's runs, one request at a time: points, colours and cards, and
// small pictures, many at a time, which are kept as sheets of 64, the ones last seen longest.

import { post } from "../../shell/js/post.js";

/** @import { Server } from "../../shell/js/post.js" */
/** @import { Answer, Message } from "./main.js" */

/** @typedef {{bitmap: ImageBitmap, rows: number[], used: number}} Sheet of pictures, and the frame that used it last */
/** @typedef {{sheet: Sheet, x: number, y: number}} Sprite where a row's picture is */
/** @typedef {{server: Server, sheet: string, clicked: number[]}} Asked of which map, and what was clicked there */

const SOON = 500; // ms before the first try again, doubled with each
const LATE = 15_000;

const REST = 60; // ms of rest before pictures are requested
const MOST = 64; // pictures of a sheet
const COLUMNS = 8;
const SIDE = 64; // px of one
const KEPT = 48; // sheets of 1 MB
const FAULTS = 3; // in a row, after which no more are requested until the page's next run

export class Requests {
  tries = 0;
  isUnderWay = false;
  isStopped = false;
  timer = 0;

  /**
   * `lacking()`: the next request, null for none; `came(message, answer)` takes what it brought.
   *
   * @param {{
   *   lacking: () => {server: Server, message: Message} | null,
   *   came: (message: Message, answer: Answer) => void,
   * }} seams
   */
  constructor({ lacking, came }) {
    this.lacking = lacking;
    this.came = came;
  }

  /** Requests all that is lacking, unless that is under way. */
  async run() {
    if (this.isUnderWay) return;
    clearTimeout(this.timer);
    this.isUnderWay = true;
    for (let next = this.lacking(); next; next = this.lacking()) {
      const { answer, status } = await post(next.server, "map-points", next.message, { keepalive: false });
      const isRefused = status >= 400 && status < 500;
      if (isRefused || this.isStopped) break; // the page's next run brings another token, or another sheet
      if (!answer) {
        this.timer = setTimeout(() => this.run(), Math.min(LATE, SOON * 2 ** this.tries++));
        break;
      }
      this.tries = 0;
      this.came(next.message, answer);
    }
    this.isUnderWay = false;
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }
}

export class Sprites {
  /** @type {Set<Sheet>} */
  sheets = new Set();
  /** @type {Map<number, Sprite>} by row */
  places = new Map();
  /** @type {number[]} rows */
  wanted = [];
  faults = 0;
  turn = 0; // the frame
  isUnderWay = false;
  isStopped = false;
  /** @type {Asked | null} */
  asked = null;
  timer = 0;

  /** @param {() => void} came is called when there are more pictures */
  constructor(came) {
    this.came = came;
  }

  /** For another map. */
  reset() {
    this.sheets.forEach(({ bitmap }) => bitmap.close());
    this.sheets.clear();
    this.places.clear();
    this.wanted = [];
    this.faults = this.turn = 0;
  }

  /** @param {number} row @returns where its picture is; undefined if it has not come */
  at(row) {
    const place = this.places.get(row);
    if (place) place.sheet.used = this.turn;
    return place;
  }

  /**
   * The pictures that one frame lacks.
   *
   * @param {number[]} rows
   * @param {Asked} asked
   */
  want(rows, asked) {
    this.turn += 1;
    this.wanted = rows;
    this.asked = asked;
    if (rows.length && !this.isUnderWay) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), REST);
    }
  }

  /** @param {number} row */
  forget(row) {
    this.places.delete(row);
  }

  async run() {
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    while (this.asked && this.wanted.length && this.faults < FAULTS && !this.isStopped) {
      const { asked } = this;
      const rows = this.wanted.slice(0, MOST);
      const bitmap = await fetched(asked, rows);
      if (this.asked.sheet !== asked.sheet) continue; // another map meanwhile
      this.faults = bitmap ? 0 : this.faults + 1;
      if (bitmap) this.keep(bitmap, rows);
      this.wanted = this.wanted.filter((row) => !this.places.has(row));
      this.came();
      await new Promise((go) => setTimeout(go)); // the next frame says what it lacks
    }
    this.isUnderWay = false;
  }

  /** @param {ImageBitmap} bitmap @param {number[]} rows */
  keep(bitmap, rows) {
    const sheet = { bitmap, rows, used: this.turn };
    this.sheets.add(sheet);
    rows.forEach((row, at) =>
      this.places.set(row, { sheet, x: (at % COLUMNS) * SIDE, y: Math.floor(at / COLUMNS) * SIDE }),
    );
    if (this.sheets.size <= KEPT) return;
    const oldest = [...this.sheets].reduce((old, one) => (one.used < old.used ? one : old));
    for (const row of oldest.rows) if (this.places.get(row)?.sheet === oldest) this.places.delete(row);
    this.sheets.delete(oldest);
    oldest.bitmap.close();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.reset();
  }
}

/** @param {Asked} asked @param {number[]} rows */
async function fetched({ server, sheet, clicked }, rows) {
  const { answer } = await post(server, "map-sprites", { sheet, rows, clicked }, { keepalive: false });
  return answer ? createImageBitmap(answer).catch(() => null) : null;
}
