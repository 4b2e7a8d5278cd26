// Where relevance drops: the same test as store/relevance.py, which says why.

const CHANCE = 0.05;
const MOST_SCORES = 100;
const TAIL = 3;
const FEWEST_SCORES = 8;

/** How many of these falling scores stand above the drop; null where there is none. */
export function drop(scores, compared) {
  const looked = Math.min(scores.length, MOST_SCORES, Math.floor(compared / TAIL));
  if (looked < FEWEST_SCORES) return null;
  let total = 0;
  let largest = -1;
  let at = 0;
  for (let i = 1; i < looked; i++) {
    const spacing = i * (scores[i - 1] - scores[i]);
    total += spacing;
    if (spacing > largest) (largest = spacing), (at = i);
  }
  const chance = (looked - 1) * (1 - largest / total) ** (looked - 2);
  return total > 0 && chance < CHANCE ? at : null;
}
