"""The files that run the dashboard as a service are what their tools expect."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).parent.parent / "deploy"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "memedex.service"
    text = (DEPLOY / "memedex.service").read_text()
    command = re.search(r"^ExecStart=(\S+)(.*)$", text, re.MULTILINE)
    assert command
    assert command[2].split()[:3] == ["-m", "store", "run"]
    unit.write_text(text.replace(command[1], shutil.which("true") or ""))
    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_the_compose_file_keeps_the_data_outside_the_container() -> None:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["memedex"]
    assert f"memedex-data:{service['environment']['MEMEDEX_ROOT']}" in service["volumes"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "/health" in service["healthcheck"]["test"][-1]
