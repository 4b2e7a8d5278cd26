// When a page is out of date, and when it may be run again for that: only while nobody is in the middle of something.

export const REST = 1000; // ms without a key or the pointer
const APART = 2 * REST; // at least between two runs for news, of which there is always some while others decide
const DECIDED = "generation"; // the value that others' decisions change
const AGAIN = 5000; // ms until a page that is still out of date is asked for again, doubled each time
const LONGEST = 120_000;

/** @type {Run} */
export const NEVER = { at: -Infinity, times: 0 };

/** @import { State } from "./connection.js" */

/** @typedef {Partial<Omit<State, "at" | "badges" | "bars" | "answers">>} Values */
/** @typedef {{at: number, times: number, names?: string[]}} Run when the page was asked for last, how often, and why */

/**
 * The names of the values that a part shows and that are others by now. What was read before the page is not compared.
 *
 * @param {{shown?: Values, at: number}} part
 * @param {Partial<State>} state
 */
export function outdated({ shown = {}, at }, state) {
  if (!state.at || state.at <= at) return [];
  const names = /** @type {(keyof Values)[]} */ (Object.keys(shown));
  return names.filter((name) => name in state && state[name] !== shown[name]);
}

/**
 * Whether the page may be run now; times in ms.
 * `names`: what is out of date. `lastRun`: when the page was asked for last, for what, and how often in vain since it
 * was up to date. A decision does not wait because findings, which come by themselves, have just been drawn.
 *
 * @param {ReturnType<typeof import("./hand.js").hand>} hand
 * @param {{now: number, names?: string[], lastRun?: Run}} page
 */
export function mayRun(hand, { now, names = [], lastRun = NEVER }) {
  if (!hand.isVisible || hand.isWorking || hand.inField || hand.isCovered || hand.isDeciding) return false;
  if (now - hand.touchedAt < REST) return false;
  if (names.includes(DECIDED) && lastRun.names && !lastRun.names.includes(DECIDED)) return true;
  return now - lastRun.at >= (lastRun.times ? Math.min(LONGEST, AGAIN * 2 ** (lastRun.times - 1)) : APART);
}

/**
 * Whether it is time to offer a run instead: not where the hand is about to rest anyway.
 *
 * @param {{now: number, lateSince: number, lastRun?: Run}} page
 */
export function mayOffer({ now, lateSince, lastRun = NEVER }) {
  return !lastRun.times && now - lateSince >= 2 * REST;
}

/**
 * What happened meanwhile, in a few words. `shown`: the values of all parts; `jobNames`: names of jobs by their number.
 *
 * @param {string[]} names
 * @param {{shown: Values, state: Values, jobNames?: Record<string, string>}} page
 */
export function news(names, { shown, state, jobNames = {} }) {
  const more = Number(state.pending) - Number(shown.pending);
  if (names.includes("generation") && more > 0)
    return more === 1 ? "1 new coin" : `${more.toLocaleString("en")} new coins`;
  const ended = names.includes("jobs") && endedJob(shown.jobs, state.jobs, jobNames);
  if (ended) return `${ended} ended`;
  if (names.includes("generation")) return "Library changed";
  if (names.includes("jobs") || names.includes("open")) return "Jobs changed";
  if (names.includes("ready")) return "Model ready";
  return "Page changed";
}

/**
 * The known name of a job that is over: it was under way, or is the newest ("#6"), which began since.
 *
 * @param {string | undefined} shown
 * @param {string | undefined} told
 * @param {Record<string, string>} names
 */
function endedJob(shown = "", told = "", names) {
  const [before, now] = [shown.split(" "), told.split(" ")];
  const begun = now.filter((id) => id.startsWith("#") && !before.includes(id)).map((id) => id.slice(1));
  return names[[...before, ...begun].find((id) => id in names && !now.includes(id)) ?? ""];
}
