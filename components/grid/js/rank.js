// The score of store/search/ranking.py, over the similarities of every record, in the page; and the rank of a record by
// one facet alone.

export const FACET_NAMES = ["image", "entity", "context", "visual", "emotions"];

/** @typedef {{centre: number[], spread: number[]}} Scale */
/** @typedef {Record<string, number | string | boolean>} Weights by facet */
/** @typedef {[at: number, share: number]} Share of the weights that the facet at this place has */
/** @typedef {ArrayLike<number>} Column */
/** @typedef {{fused: boolean, strength: number, shares: Column}} Words */
/**
 * @typedef {{
 *   strength: number,
 *   doubt: number,
 *   means: number[],
 *   deviations: number[],
 *   picture: [mean: number, deviation: number],
 *   usual: Record<string, number>,
 *   silent: ArrayLike<number | boolean>,
 * }} Pictures
 */
/**
 * @typedef {{
 *   columns: Column[],
 *   means: number[],
 *   deviations?: number[],
 *   floor?: number | null,
 *   groups?: Column | null,
 *   words?: Words | null,
 *   pictures?: Pictures | null,
 *   pinned?: number[],
 * }} Similarities
 */
/** @typedef {{shares: Share[], slope: number, base: number, doubt: number}} StandIn */
/** @typedef {{isByPicture: boolean, contribution: number} | null} ByPicture */
/** @typedef {"strong" | "weak" | "below"} Strength how well a result fits; "below": no better than by chance */
/** @typedef {ReturnType<typeof rank>["list"][number]} Hit a result: its row, its score and what it is made of */

/** @type {Record<string, number>} */
const CAPTION_SHARE = { entity: 4, context: 3, visual: 2, emotions: 1 };
const HIGH = 0.05; // among the best twentieth by one …
const LOW = 0.5; // … and not even in the better half by the other
const ENOUGH = 40; // records; with fewer, a twentieth means nothing
// Of the demo's golden queries, 82 % of the results with so much are relevant, and 86 % of the relevant have so much.
const STRONG = 2; // deviations above the library's mean

/** @type {Scale} */
export const RAW = { centre: [0, 0, 0, 0, 0], spread: [1, 1, 1, 1, 1] };

/**
 * The best `top` rows for these weights: score = Σ w·ŝ / Σ w over the weighted facets that some record has, where a
 * record's missing facet counts as the library's mean, and a record without any weighted facet is not a hit.
 * Calibrated, (ŝ - centre) / spread replaces ŝ. Only the best row of each group is a hit.
 * Fused, a row's share of the question's words counts too; by the usual weights, pictures replace captions that
 * say nothing (store/search/ranking.py).
 * Pinned rows come first, the best of them first, and appear once.
 * `floor` is the cosine up to which captions fit a question by chance; null where that means nothing.
 *
 * @param {Similarities} similarities
 * @param {Weights} weights
 * @param {number} top
 */
export function rank(similarities, weights, top, scale = RAW) {
  const { columns, means, deviations = [], floor = null, groups, words, pictures, pinned = [] } = similarities;
  const used = shares(weights, means);
  const speaking = pictures && isUsual(pictures, weights) ? pictures : null;
  const standIn = speaking && standInOf(speaking, used.length ? used : allShares(weights), scale);
  if (!used.length && !standIn) return { list: [], hits: 0 };
  const counted = standIn?.shares ?? used;
  const unit = unitOf(counted, speaking?.deviations ?? deviations, scale);
  const neutral = neutralOf(counted, speaking?.means ?? means, scale);
  const gain = words?.fused ? words.strength * unit : 0;
  const rows = columns[0].length;
  const scores = new Float64Array(rows);
  const present = new Uint8Array(rows);
  for (const [at, share] of used) {
    const column = columns[at];
    const centre = scale.centre[at];
    const spread = scale.spread[at];
    const neutral = share * ((means[at] - centre) / spread);
    for (let row = 0; row < rows; row++) {
      const cosine = column[row];
      if (cosine === cosine) {
        scores[row] += share * ((cosine - centre) / spread);
        present[row] = 1;
      } else scores[row] += neutral;
    }
  }
  const pictureGives = standIn && letPicturesSpeak(speaking.silent, standIn, columns[0], scores, present);
  if (words && gain) for (let row = 0; row < rows; row++) scores[row] += gain * words.shares[row];
  if (groups) fold(groups, scores, present);
  const best = bestRows(scores, present, top + pinned.length);
  const first = [...pinned].sort((a, b) => scores[b] - scores[a] || a - b);
  const list = [...first, ...best.rows.filter((row) => !pinned.includes(row)).slice(0, top)];
  return {
    list: list.map((row) => {
      const hit = {
        ...explain(row, scores[row], columns, means, used, scale, pictureGives?.[row]),
        words: wordsOf(row, words, gain),
        isExact: pinned.includes(row),
        sigma: unit > 0 ? (scores[row] - neutral) / unit : 0,
      };
      const isAbove = floor === null || pictureGives?.[row]?.isByPicture || exceeds(hit, floor);
      return { ...hit, strength: strengthOf(hit.sigma, Boolean(isAbove)) };
    }),
    hits: best.hits,
  };
}

/**
 * w / Σ w of each weighted facet that some record has.
 *
 * @param {Weights} weights
 * @param {number[]} means
 */
function shares(weights, means) {
  return portions(weighted(weights).filter(([at]) => Number.isFinite(means[at])));
}

/** @param {Weights} weights */
function allShares(weights) {
  return portions(weighted(weights));
}

/**
 * @param {Weights} weights
 * @returns {[at: number, weight: number][]}
 */
function weighted(weights) {
  return FACET_NAMES.flatMap((name, at) => (Number(weights[name]) > 0 ? [[at, Number(weights[name])]] : []));
}

/**
 * @param {[at: number, weight: number][]} given
 * @returns {Share[]}
 */
function portions(given) {
  const largest = Math.max(...given.map(([, weight]) => weight));
  // Divided by the largest first, so that no sum overflows.
  const total = given.reduce((sum, [, weight]) => sum + weight / largest, 0);
  return given.map(([at, weight]) => [at, weight / largest / total]);
}

/**
 * The weighted standard deviation of the query's cosines.
 *
 * @param {Share[]} used
 * @param {number[]} deviations
 * @param {Scale} scale
 */
function unitOf(used, deviations, scale) {
  return used.reduce((sum, [at, share]) => sum + share * (deviations[at] / scale.spread[at]), 0);
}

/**
 * The score of a record that is the library's mean in every facet.
 *
 * @param {Share[]} used
 * @param {number[]} means
 * @param {Scale} scale
 */
function neutralOf(used, means, scale) {
  return used.reduce((sum, [at, share]) => sum + share * ((means[at] - scale.centre[at]) / scale.spread[at]), 0);
}

/**
 * Whether a result fits better than by chance: by its words, by a caption, or by its picture, of which no
 * floor is known.
 *
 * @param {{words: {contribution: number}, facets: {present: boolean, weight: number, cosine: number | null}[]}} hit
 * @param {number} floor
 */
function exceeds({ words, facets: [picture, ...captions] }, floor) {
  const isNear = captions.some(({ present, weight, cosine }) => present && weight && Number(cosine) > floor);
  return words.contribution > 0 || picture.weight > 0 || isNear;
}

/** @param {number} sigma @param {boolean} isAbove @returns {Strength} */
function strengthOf(sigma, isAbove) {
  if (!isAbove) return "below";
  return sigma >= STRONG ? "strong" : "weak";
}

/**
 * Whether pictures replace captions with these weights.
 *
 * @param {Pictures} pictures
 * @param {Weights} weights
 */
function isUsual(pictures, weights) {
  return FACET_NAMES.every((name) => (Number(weights[name]) || 0) === (pictures.usual[name] ?? 0));
}

/**
 * What a picture's cosine gives in place of captions: base + slope · cosine, or the captions' score less the doubt.
 *
 * @param {Pictures} pictures
 * @param {Share[]} used
 * @param {Scale} scale
 * @returns {StandIn}
 */
function standInOf({ strength, doubt, means, deviations, picture: [mean, deviation] }, used, scale) {
  const unit = unitOf(used, deviations, scale);
  const slope = deviation ? (strength * unit) / deviation : 0;
  return { shares: used, slope, base: neutralOf(used, means, scale) - slope * mean, doubt: doubt * unit };
}

/**
 * Gives silent rows the scores of their pictures; returns what the picture of each contributes, null if nothing.
 *
 * @param {Pictures["silent"]} silent
 * @param {StandIn} standIn
 * @param {Column} cosines
 * @param {Float64Array} scores
 * @param {Uint8Array} present
 */
function letPicturesSpeak(silent, { base, slope, doubt }, cosines, scores, present) {
  /** @type {ByPicture[]} */
  const given = new Array(scores.length).fill(null);
  for (let row = 0; row < scores.length; row++) {
    if (!silent[row]) continue;
    const own = base + slope * cosines[row];
    const isByPicture = own >= scores[row] - doubt;
    given[row] = { isByPicture, contribution: isByPicture ? own : -doubt };
    scores[row] = isByPicture ? own : scores[row] - doubt;
    present[row] = 1;
  }
  return given;
}

/**
 * @param {number} row
 * @param {Words | null | undefined} words
 * @param {number} gain
 */
function wordsOf(row, words, gain) {
  const share = words && gain ? words.shares[row] : 0;
  return { share, gain, contribution: gain * share };
}

/**
 * Keeps only the best row of each group of copies.
 *
 * @param {Column} groups
 * @param {Float64Array} scores
 * @param {Uint8Array} present
 */
function fold(groups, scores, present) {
  const best = new Map();
  for (let row = 0; row < groups.length; row++) {
    if (groups[row] < 0 || !present[row]) continue;
    const other = best.get(groups[row]);
    if (other === undefined || scores[row] > scores[other]) {
      if (other !== undefined) present[other] = 0;
      best.set(groups[row], row);
    } else present[row] = 0;
  }
}

/**
 * Rows by falling score, equal scores in the server's order.
 *
 * @param {Float64Array} scores
 * @param {Uint8Array} present
 * @param {number} top
 */
function bestRows(scores, present, top) {
  let hits = 0;
  for (let row = 0; row < scores.length; row++) hits += present[row];
  const least = reached(scores, present, top);
  const rows = [];
  for (let row = 0; row < scores.length; row++) if (present[row] && scores[row] >= least) rows.push(row);
  return { rows: rows.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, top), hits };
}

/**
 * A score that at least `top` rows reach and few more: the `top`-th best of the maxima of many buckets.
 *
 * @param {Float64Array} scores
 * @param {Uint8Array} present
 * @param {number} top
 */
function reached(scores, present, top) {
  const heaps = 4 * top;
  if (scores.length < 2 * heaps) return -Infinity;
  const best = new Float64Array(heaps).fill(-Infinity);
  for (let row = 0, heap = 0; row < scores.length; row++) {
    if (present[row] && scores[row] > best[heap]) best[heap] = scores[row];
    if (++heap === heaps) heap = 0;
  }
  return best.sort()[heaps - top];
}

/**
 * @param {number} row
 * @param {number} score
 * @param {Column[]} columns
 * @param {number[]} means
 * @param {Share[]} used
 * @param {Scale} scale
 * @param {ByPicture} picture
 */
function explain(row, score, columns, means, used, scale, picture = null) {
  const weights = new Map(used);
  const facets = FACET_NAMES.map((_, at) => {
    const cosine = columns[at][row];
    const present = cosine === cosine;
    const weight = weights.get(at) ?? 0;
    const value = present ? cosine : Number.isFinite(means[at]) ? means[at] : null;
    if (picture && (at === 0 || picture.isByPicture))
      return { present, cosine: value, weight, contribution: at ? 0 : picture.contribution };
    const counts = value === null ? 0 : (value - scale.centre[at]) / scale.spread[at];
    return { present, cosine: value, weight, contribution: weight * counts };
  });
  return { row, score, facets };
}

/**
 * How many rows have another place than before, and how many had none.
 *
 * @param {Map<number, number>} before
 * @param {number[]} now
 */
export function changesOf(before, now) {
  const came = now.filter((row) => !before.has(row)).length;
  return { came, moved: now.filter((row, at) => (before.get(row) ?? at) !== at).length };
}

/** The rank of a record by one facet alone, which shows when picture and captions disagree. */
export class Places {
  /** @param {Similarities} similarities */
  constructor({ columns, means }) {
    this.columns = columns;
    this.captions = captionColumn(columns, means);
    this.sorted = columns.map(ascending);
    this.sortedCaptions = ascending(this.captions);
  }

  /**
   * 1 for the best of all that have this facet; null where it is missing.
   *
   * @param {number} row
   * @param {number} at
   */
  of(row, at) {
    return placeIn(this.sorted[at], this.columns[at][row]);
  }

  /**
   * A hint if picture and captions of a record match the query very differently; "" for most.
   *
   * @param {number} row
   */
  disagreement(row) {
    const pictures = this.sorted[0].length;
    if (pictures < ENOUGH || this.sortedCaptions.length < ENOUGH) return "";
    const picture = Number(this.of(row, 0)) / pictures;
    const captions = Number(placeIn(this.sortedCaptions, this.captions[row])) / this.sortedCaptions.length;
    if (!picture || !captions) return "";
    if (picture <= HIGH && captions >= LOW) return "The picture fits, the captions do not: is the caption right?";
    if (captions <= HIGH && picture >= LOW) return "The captions fit, the picture does not: is the caption right?";
    return "";
  }
}

/** @param {Column[]} columns @param {number[]} means */
function captionColumn(columns, means) {
  const sums = new Float64Array(columns[0].length);
  FACET_NAMES.forEach((name, at) => {
    if (!CAPTION_SHARE[name] || !Number.isFinite(means[at])) return;
    for (let row = 0; row < sums.length; row++)
      sums[row] += CAPTION_SHARE[name] * (columns[at][row] === columns[at][row] ? columns[at][row] : means[at]);
  });
  return sums;
}

/** @param {Column} column @returns its values without those that are missing */
function ascending(column) {
  return Float64Array.from(column)
    .filter((value) => value === value)
    .sort();
}

/** @param {Float64Array} sorted @param {number} value */
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
