"""Modules become one script, in which each gets what it imports."""

import subprocess

import pytest

from store.showcase.scripts import bundled, script
from tests.components.conftest import node  # noqa: F401

MODULES = {
    "grid/js/main.js": """import {
  add,
  NAME as name,
} from "../../shell/js/sum.js";
import { again } from "./again.js";

const COUNT = 2;

export default function () {
  return `${name} ${add(COUNT)} ${again()}`;
}
""",
    "grid/js/again.js": """import { add } from "../../shell/js/sum.js";

const COUNT = 3;

export async function later() {}

export function again() {
  return add(COUNT);
}
""",
    "shell/js/sum.js": """let sum = 0;

export const NAME = "sum";

export class Unused {}

export function add(number) {
  return (sum += number);
}
""",
    "map/js/main.js": "throw new Error('nobody asked for it');\n",
}


def test_a_module_gets_what_it_imports_and_shares_it_with_others(node: str) -> None:  # noqa: F811
    script = bundled(MODULES) + 'console.log(moduleAt("grid/js/main.js").default());\n'
    ran = subprocess.run(
        [node, "--input-type=module"], input=script, capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout == "sum 2 5\n"


@pytest.mark.parametrize(
    "statement",
    ['import * as all from "./a.js";', 'import "./a.js";', "export { name };", "export let number = 1;"],
)
def test_a_statement_that_would_mean_something_else_is_refused(statement: str) -> None:
    with pytest.raises(ValueError, match=r"a\.js has a statement that cannot be bundled: (import|export)"):
        bundled({"a.js": f"const number = 1;\n{statement}\n"})


def test_a_page_holds_the_modules_that_it_needs_and_no_others() -> None:
    assert '"grid/js/rank.js"() {' in script()
    assert '"map/' not in script()
    assert "</" not in script(), "nothing in it ends the element that holds it"
