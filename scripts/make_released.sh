#!/usr/bin/env bash
# Run once for each release: leave a library and a text memory as this version does, for the tests of later ones
# (tests/store/released/VERSION.zip, opened by tests/store/test_released.py).
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export MEMEDEX_EMBEDDER=offline MEMEDEX_ROOT=$place/res MEMEDEX_USER=ann
python=$PWD/.venv/bin/python
memedex() { "$python" -m store "$@"; }

"$python" - "$place" <<'PICTURES'
import sys
from pathlib import Path
from zipfile import ZipFile

coins = iter(("Cat", "Dog", "Frog", "Bear"))  # the pictures of the first release
with ZipFile("tests/store/released/1.0.0.zip") as released:
    for name in sorted(name for name in released.namelist() if name.endswith(".jpg")):
        folder = Path(sys.argv[1], "coins")
        folder.mkdir(exist_ok=True)
        (folder / f"{next(coins)}.jpg").write_bytes(released.read(name))
PICTURES

memedex import "$place/coins"
address() { memedex list "$1" --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)[0]["token_address"])'; }
frog=$(address Frog)
dog=$(address Dog)
cat=$(address Cat)
bear=$(address Bear)
memedex approve "$frog" "$dog" "$cat"
memedex caption "$frog" --entity "a green frog with a white belly" --context "the frog meme" --tags frog,green
memedex caption "$dog" --entity "an orange dog" --context "the moon dog" --tags dog
memedex promote "$frog" "$dog"
memedex reject "$bear" --reason scam
memedex tag "$cat" --add cat
memedex undo

memedex memory store "The vault is guarded by Mira."
memedex memory store --kind world_lore --in harbour --name gate --new "The harbour gate closes at dusk."
memedex memory store --kind session_memory --in mira_one "User: Who guards the vault?
AI: I do."
mkdir "$place/papers"
printf '# Lending\n\nA liquidation takes five percent of the collateral.\n' > "$place/papers/paper.md"
memedex memory import-document --protocol lend "$place/papers/paper.md"

# Without what is made again: Chroma, the files of search, thumbnails, copies of the catalog.
"$python" - "$MEMEDEX_ROOT" <<'PACK'
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import store

KEPT = (
    "memecoins/*.sqlite3", "memecoins/approved/*", "memecoins/trash/*", "memecoins/rag_db/images/*",
    "memecoins/rag_db/metadata/*", "memory/*.sqlite3", "memory/originals/*",
)
root = Path(sys.argv[1])
with ZipFile(f"tests/store/released/{store.__version__}.zip", "w", ZIP_DEFLATED) as archive:
    for path in (path for pattern in KEPT for path in sorted(root.glob(pattern)) if path.is_file()):
        archive.write(path, path.relative_to(root))
PACK
