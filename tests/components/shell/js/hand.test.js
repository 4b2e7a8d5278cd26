// A link that was clicked is not overtaken by the page that it leaves.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrive, isLeaving, watchHand } from "../../../../components/shell/js/hand.js";

const heard = {};
const page = { addEventListener: (name, listener) => (heard[name] = listener), removeEventListener() {}, title: "Map" };
Object.assign(globalThis, { window: page, document: page });
globalThis.location = { pathname: "/map" };
globalThis.WebSocket = class {
  send() {}
};
watchHand();

/** Clicks on a link to this path; `event` and `link` hold what differs from a plain click. */
function click(pathname, { event = {}, link = {} } = {}) {
  const anchor = {
    localName: "a",
    pathname,
    target: "",
    hasAttribute: () => false,
    getAttribute: () => pathname,
    ...link,
  };
  globalThis.document = page; // tests of other modules have documents of their own
  heard.click({ composedPath: () => [{ localName: "span" }, anchor], ...event });
}

test("a page is being left until the link's page is drawn, not until a run of the page itself is", () => {
  assert.equal(isLeaving(), false);
  click("/insights");
  assert.equal(isLeaving(), true);
  arrive(); // a run of the map that was under way
  assert.equal(isLeaving(), true);
  globalThis.location.pathname = "/insights"; // at once, for a link that is followed by its address
  arrive();
  assert.equal(isLeaving(), true);
  page.title = "Insights";
  arrive();
  assert.equal(isLeaving(), false);
});

test("a link to the overview is empty, and leads there from every page", () => {
  for (const [from, leaves] of [
    ["/tags", true],
    ["/", false],
  ]) {
    globalThis.location.pathname = from;
    click(from, { link: { getAttribute: () => "" } });
    arrive();
    assert.equal(isLeaving(), leaves);
    page.title = `Home from ${from}`;
    arrive();
    assert.equal(isLeaving(), false);
  }
});

test("a link to the page itself is over with its next run", () => {
  click(globalThis.location.pathname);
  assert.equal(isLeaving(), true);
  arrive();
  assert.equal(isLeaving(), false);
});

test("a link that opens elsewhere leaves nothing", () => {
  click("/tags", { event: { ctrlKey: true } });
  click("/tags", { link: { target: "_blank" } });
  click("/tags", { link: { hasAttribute: (name) => name === "download" } });
  assert.equal(isLeaving(), false);
});
