"""The tests of the pages' JavaScript (`js/*.test.js`), which Node.js runs."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
def test_the_javascript_tests_pass(node: str) -> None:
    command = [node, "--test", "--test-reporter=tap", "tests/javascript.js"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    passed = re.search(r"^# pass (\d+)$", ran.stdout, re.MULTILINE)
    assert passed
    assert int(passed[1]) > 100, "the tests were not found"
