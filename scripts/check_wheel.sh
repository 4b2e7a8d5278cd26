#!/usr/bin/env bash
# Build the wheel, install it into an empty environment, and run the demo and the dashboard with it in another folder.
# `pip install .` without --no-deps brings kubernetes, boto3 and PyTorch with CUDA as well, gigabytes that Memedex does not use
# (docs/decisions.md, 20): `pip check` proves that it installs the same packages otherwise, and a dry run that pip
# finds versions of all of them.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$place"' EXIT

"${PYTHON:-python3}" -m venv "$place/venv"
pip=("$place/venv/bin/python" -m pip --disable-pip-version-check)
"${pip[@]}" wheel --quiet --no-deps --wheel-dir "$place" .
"${pip[@]}" install --quiet --no-deps --require-hashes -r requirements.txt
mkdir "$place/elsewhere"
memedex=$place/venv/bin/memedex
"${pip[@]}" install --quiet --no-deps --editable .
(cd "$place/elsewhere" && "$memedex" --version)
"${pip[@]}" install --quiet --no-deps --force-reinstall "$place"/memedex-*.whl

# Every requirement of every package is here, in a version that it accepts, but for the three that we leave out.
lacking=$("${pip[@]}" check 2>&1 | grep -vE 'requires (boto3|kubernetes|sentence-transformers), which is not installed|^No broken' || true)
[ -z "$lacking" ] || { echo "pip install . would install other packages: $lacking" >&2; exit 1; }

# pip takes no hashes beside a folder, which has none.
cat requirements.txt requirements-torch.txt requirements-clip.txt | sed -E '/--hash/d; s/ \\$//' > "$place/versions.txt"
"${pip[@]}" install --quiet --dry-run . -c "$place/versions.txt"

cd "$place/elsewhere"
"$memedex" --version
"$memedex" demo
"$memedex" search "sad frog" --json --top 1 | grep --quiet token_address
"$memedex" doctor

port=$("$place/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$memedex" run --port "$port" -- --server.headless=true > dashboard.log 2>&1 &
server=$!
for _ in $(seq 120); do
    if "$place/venv/bin/python" -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/_stcore/health')" 2> /dev/null; then
        "$place/venv/bin/python" - "$port" << 'PYTHON'
# The wheel contains the JavaScript: the program serves it at its address.
import sys
from urllib.request import urlopen

from components.shell import javascript

address, _ = javascript.addresses()
assert b'"grid/js/main.js"' in urlopen(f"http://127.0.0.1:{sys.argv[1]}{address}").read()
PYTHON
        echo "the wheel runs: $(du -sm "$place/venv" | cut -f1) MB installed"
        exit 0
    fi
    sleep 0.5
done
cat dashboard.log
exit 1
