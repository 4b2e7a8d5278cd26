// The rank of a record by one facet alone, which shows when picture and captions disagree.

import { FACET_NAMES } from "./bars.js";

const CAPTION_SHARE = { entity: 4, context: 3, visual: 2, emotions: 1 };
const HIGH = 0.05; // among the best twentieth by one …
const LOW = 0.5; // … and not even in the better half by the other
const ENOUGH = 40; // records; with fewer, a twentieth means nothing

export class Places {
  constructor({ columns, means }) {
    this.columns = columns;
    this.captions = captionColumn(columns, means);
    this.sorted = columns.map(ascending);
    this.sortedCaptions = ascending(this.captions);
  }

  /** 1 for the best of all that have this facet; null where it is missing. */
  of(row, at) {
    return placeIn(this.sorted[at], this.columns[at][row]);
  }

  among(at) {
    return this.sorted[at].length;
  }

  /** A hint if picture and captions of a record match the query very differently; "" for most. */
  disagreement(row) {
    const pictures = this.sorted[0].length;
    if (pictures < ENOUGH || this.sortedCaptions.length < ENOUGH) return "";
    const picture = this.of(row, 0) / pictures;
    const captions = placeIn(this.sortedCaptions, this.captions[row]) / this.sortedCaptions.length;
    if (!picture || !captions) return "";
    if (picture <= HIGH && captions >= LOW) return "The picture fits, the captions do not: is the caption right?";
    if (captions <= HIGH && picture >= LOW) return "The captions fit, the picture does not: is the caption right?";
    return "";
  }
}

function captionColumn(columns, means) {
  const sums = new Float64Array(columns[0].length);
  FACET_NAMES.forEach((name, at) => {
    if (!CAPTION_SHARE[name] || !Number.isFinite(means[at])) return;
    for (let row = 0; row < sums.length; row++)
      sums[row] += CAPTION_SHARE[name] * (columns[at][row] === columns[at][row] ? columns[at][row] : means[at]);
  });
  return sums;
}

function ascending(column) {
  return column.filter((value) => value === value).sort();
}

function placeIn(sorted, value) {
  if (value !== value) return null;
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return sorted.length - low + 1;
}
