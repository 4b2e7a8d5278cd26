// Small pictures, requested many at a time and kept as sheets of 64, the ones last seen longest.

import { post } from "../../shell/js/post.js";

const REST = 60; // ms of rest before pictures are requested
const MOST = 64; // pictures of a sheet
const COLUMNS = 8;
const SIDE = 64; // px of one
const KEPT = 48; // sheets of 1 MB
const FAULTS = 3; // in a row, after which no more are requested until the page's next run

export class Sprites {
  /** `came()` is called when there are more pictures. */
  constructor(came) {
    this.came = came;
    this.reset();
  }

  /** For another map. */
  reset() {
    this.sheets?.forEach(({ bitmap }) => bitmap.close());
    Object.assign(this, { sheets: new Set(), places: new Map(), wanted: [], faults: 0, turn: 0 });
  }

  /** Where a row's picture is: {sheet, x, y}; undefined if it has not come. */
  at(row) {
    const place = this.places.get(row);
    if (place) place.sheet.used = this.turn;
    return place;
  }

  /** The pictures that one frame lacks; `request` is {server, sheet, clicked}. */
  want(rows, request) {
    this.turn += 1;
    this.wanted = rows;
    this.request = request;
    if (rows.length && !this.isUnderWay) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), REST);
    }
  }

  forget(row) {
    this.places.delete(row);
  }

  async run() {
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    while (this.wanted.length && this.faults < FAULTS && !this.isStopped) {
      const { server, sheet: name, clicked } = this.request;
      const rows = this.wanted.slice(0, MOST);
      const bitmap = await fetched(server, { sheet: name, rows, clicked });
      if (name !== this.request.sheet) continue; // another map meanwhile
      this.faults = bitmap ? 0 : this.faults + 1;
      if (bitmap) this.keep(bitmap, rows);
      this.wanted = this.wanted.filter((row) => !this.places.has(row));
      this.came();
      await new Promise((go) => setTimeout(go)); // the next frame says what it lacks
    }
    this.isUnderWay = false;
  }

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

async function fetched(server, message) {
  const { answer } = await post(server, "map-sprites", message, { keepalive: false });
  return answer ? createImageBitmap(answer).catch(() => null) : null;
}
