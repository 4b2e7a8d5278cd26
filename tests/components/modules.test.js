// Every module can be loaded with all that it imports, and none imports itself through others.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const COMPONENTS = fileURLToPath(new URL("../../components/", import.meta.url));
const modules = readdirSync(COMPONENTS, { recursive: true })
  .filter((name) => name.endsWith(".js"))
  .map((name) => join(COMPONENTS, name));

for (const path of modules) {
  test(`${relative(COMPONENTS, path)} loads with its imports`, async () => {
    assert.ok(Object.keys(await import(path)).length, "a module that exports nothing is of no use");
  });
}

test("there are no circular imports", () => {
  const imports = new Map(
    modules.map((path) => [
      path,
      [...readFileSync(path, "utf8").matchAll(/^import [^;]* from "(\..*)";$/gm)].map(([, other]) =>
        resolve(dirname(path), other),
      ),
    ]),
  );
  const done = new Set();
  const follow = (path, above) => {
    assert.ok(
      !above.includes(path),
      `in a circle: ${[...above, path].map((each) => relative(COMPONENTS, each)).join(" → ")}`,
    );
    if (done.has(path)) return;
    imports.get(path).forEach((other) => follow(other, [...above, path]));
    done.add(path);
  };
  modules.forEach((path) => follow(path, []));
});

test("one script and one style know the test ids of Streamlit's page", () => {
  const sources = readdirSync(COMPONENTS, { recursive: true }).filter((name) => /\.(js|css|py)$/.test(name));
  const found = sources.filter((name) =>
    /data-testid|dataset\??\.test/.test(readFileSync(join(COMPONENTS, name), "utf8")),
  );
  assert.deepEqual(found.sort(), ["shell/js/streamlit_page.js", "shell/page/streamlit_style.py"]);
});

test("every entry point has a default export", async () => {
  for (const name of [
    "grid/js/main.js",
    "grid/js/place.js",
    "editor/js/main.js",
    "editor/js/rows.js",
    "map/js/main.js",
    "search/picture_drop.js",
    "shell/page/back_button.js",
    "shell/js/main.js",
    "shell/js/form.js",
    "shell/session/wanted_page.js",
  ]) {
    assert.equal(typeof (await import(join(COMPONENTS, name))).default, "function", name);
  }
});
