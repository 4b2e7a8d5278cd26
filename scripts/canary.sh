#!/bin/sh
# Runs the canary and the stories that depend most on Streamlit against the newest one that installs, pre-releases
# included. The installed one is not touched. A failure is a report, not an error of this program: the version that
# it runs with is pinned in requirements.txt.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
newest=$folder/site-packages # elsewhere, Streamlit takes itself for a working copy of its developers
"$python" -m pip --disable-pip-version-check install --quiet --pre --no-deps --upgrade --target "$newest" streamlit
PYTHONPATH=$newest "$python" -c 'import streamlit; print("Streamlit", streamlit.__version__)'
tests=${*:-"tests/browser/test_streamlit_page.py tests/browser/test_back_button.py tests/browser/test_forms.py \
tests/browser/test_live.py tests/browser/test_map.py tests/browser/test_random_walk.py tests/components/test_attackers.py"}
# shellcheck disable=SC2086  # several files
PYTHONPATH=$newest "$python" -m pytest -n0 $tests
