"""Modules joined to one script: each keeps its own names, and what is missing is told before a page opens."""

from pathlib import Path

import pytest

from components.scripts import joined


def module(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.js"
    path.write_text(text)
    return path


def test_two_modules_may_use_one_name_for_two_things(tmp_path: Path) -> None:
    module(tmp_path, "one", "const LIMIT = 1;\nexport function first() {\n  return LIMIT;\n}\n")
    module(tmp_path, "two", "const LIMIT = 2;\nexport const second = () => LIMIT;\n")
    main = module(
        tmp_path,
        "main",
        'import { first } from "./one.js";\nimport { second } from "./two.js";\n'
        "export default () => [first, second];\n",
    )
    script = joined(main)
    for limit, name in (("1", "first"), ("2", "second")):
        scope = next(part for part in script.split("const $scope") if f"LIMIT = {limit};" in part)
        assert f"return {{ {name} }};" in scope, "the constant stands in the scope of its own module"
    assert script.count("export") == 1


def test_a_module_that_two_others_import_is_there_once(tmp_path: Path) -> None:
    module(tmp_path, "dom", "export function el() {}\n")
    module(tmp_path, "bar", 'import { el } from "./dom.js";\nexport const bar = el;\n')
    main = module(
        tmp_path, "main", 'import { bar } from "./bar.js";\nimport { el } from "./dom.js";\nbar(el);\n'
    )
    assert joined(main).count("function el()") == 1


def test_a_name_that_is_not_exported_is_named(tmp_path: Path) -> None:
    module(tmp_path, "dom", "function el() {}\n")
    main = module(tmp_path, "main", 'import { el } from "./dom.js";\n')
    with pytest.raises(ImportError, match=r"dom\.js does not export el, which main\.js imports"):
        joined(main)


def test_a_circle_is_told(tmp_path: Path) -> None:
    module(tmp_path, "one", 'import { two } from "./two.js";\nexport const one = two;\n')
    main = module(tmp_path, "two", 'import { one } from "./one.js";\nexport const two = one;\n')
    with pytest.raises(ImportError, match=r"two\.js imports itself"):
        joined(main)
