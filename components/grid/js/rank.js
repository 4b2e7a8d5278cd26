// The score of store/search/ranking.py, over the similarities of every record, in the page.

import { FACET_NAMES } from "./bars.js";

export const RAW = { centre: [0, 0, 0, 0, 0], spread: [1, 1, 1, 1, 1] };

/**
 * The best `top` rows for these weights: score = Σ w·ŝ / Σ w over the weighted facets that some record has, where a
 * record's missing facet counts as the library's mean, and a record without any weighted facet is not a hit.
 * Calibrated, (ŝ - centre) / spread replaces ŝ. Only the best row of each group is a hit.
 * Fused, a row's share of the question's words counts too; by the usual weights, pictures stand in for captions that
 * say nothing (store/search/ranking.py).
 * Pinned rows come first, the best of them first, and appear once.
 */
export function rank({ columns, means, groups, words, pictures, pinned = [] }, weights, top, scale = RAW) {
  const used = shares(weights, means);
  const standIn = isUsual(pictures, weights)
    ? standInOf(pictures, used.length ? used : allShares(weights), scale)
    : null;
  if (!used.length && !standIn) return { list: [], hits: 0 };
  const gain = words?.fused
    ? words.strength * unitOf(standIn?.shares ?? used, standIn ? pictures.deviations : words.deviations, scale)
    : 0;
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
  const pictureGives = standIn ? letPicturesSpeak(pictures.silent, standIn, columns[0], scores, present) : null;
  if (gain) for (let row = 0; row < rows; row++) scores[row] += gain * words.shares[row];
  if (groups) fold(groups, scores, present);
  const best = bestRows(scores, present, top + pinned.length);
  const first = [...pinned].sort((a, b) => scores[b] - scores[a] || a - b);
  const list = [...first, ...best.rows.filter((row) => !pinned.includes(row)).slice(0, top)];
  return {
    list: list.map((row) => ({
      ...explain(row, scores[row], columns, means, used, scale, pictureGives?.[row]),
      words: wordsOf(row, words, gain),
      isExact: pinned.includes(row),
    })),
    hits: best.hits,
  };
}

/** w / Σ w of each weighted facet that some record has: [its place, its share]. */
function shares(weights, means) {
  return portions(
    FACET_NAMES.map((name, at) => [at, Number(weights[name]) || 0]).filter(
      ([at, weight]) => weight > 0 && Number.isFinite(means[at]),
    ),
  );
}

function allShares(weights) {
  return portions(FACET_NAMES.map((name, at) => [at, Number(weights[name]) || 0]).filter(([, weight]) => weight > 0));
}

function portions(given) {
  const largest = Math.max(...given.map(([, weight]) => weight));
  // Divided by the largest first, so that no sum overflows.
  const total = given.reduce((sum, [, weight]) => sum + weight / largest, 0);
  return given.map(([at, weight]) => [at, weight / largest / total]);
}

/** The weighted standard deviation of the query's cosines. */
function unitOf(used, deviations, scale) {
  return used.reduce((sum, [at, share]) => sum + share * (deviations[at] / scale.spread[at]), 0);
}

/** Whether pictures stand in for captions with these weights. */
function isUsual(pictures, weights) {
  return Boolean(pictures) && FACET_NAMES.every((name) => (Number(weights[name]) || 0) === (pictures.usual[name] ?? 0));
}

/** What a picture's cosine gives in place of captions: base + slope · cosine, or the captions' score less the doubt. */
function standInOf({ strength, doubt, means, deviations, picture: [mean, deviation] }, used, scale) {
  const unit = unitOf(used, deviations, scale);
  const slope = deviation ? (strength * unit) / deviation : 0;
  const base = used.reduce((sum, [at, share]) => sum + share * ((means[at] - scale.centre[at]) / scale.spread[at]), 0);
  return { shares: used, slope, base: base - slope * mean, doubt: doubt * unit };
}

/** Gives silent rows the scores of their pictures; returns what the picture of each contributes, null if nothing. */
function letPicturesSpeak(silent, { base, slope, doubt }, cosines, scores, present) {
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

function wordsOf(row, words, gain) {
  const share = gain ? words.shares[row] : 0;
  return { share, gain, contribution: gain * share };
}

/** Keeps only the best row of each group of copies. */
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

/** Rows by falling score, equal scores in the server's order. */
function bestRows(scores, present, top) {
  let hits = 0;
  for (let row = 0; row < scores.length; row++) hits += present[row];
  const least = reached(scores, present, top);
  const rows = [];
  for (let row = 0; row < scores.length; row++) if (present[row] && scores[row] >= least) rows.push(row);
  return { rows: rows.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, top), hits };
}

/** A score that at least `top` rows reach and few more: the `top`-th best of the maxima of many buckets. */
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

function explain(row, score, columns, means, used, scale, picture = null) {
  const weights = new Map(used);
  const facets = FACET_NAMES.map((_, at) => {
    const cosine = columns[at][row];
    const present = cosine === cosine;
    const weight = weights.get(at) ?? 0;
    const value = present ? cosine : Number.isFinite(means[at]) ? means[at] : null;
    if (picture && (at === 0 || picture.isByPicture))
      return { present, cosine: value, weight, contribution: at ? 0 : picture.contribution };
    return {
      present,
      cosine: value,
      weight,
      contribution: weight ? weight * ((value - scale.centre[at]) / scale.spread[at]) : 0,
    };
  });
  return { row, score, facets };
}
