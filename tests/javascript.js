// Runs every *.test.js below this folder in one process: separate processes would take longer than the tests.

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("./", import.meta.url));
for (const name of readdirSync(here, { recursive: true }).sort())
  if (name.endsWith(".test.js")) await import(`${here}${name}`);
