"""Read the text in the demo library's pictures: res/demo/texts.json.

Needed after scripts/make_demo.py and whenever the reader changes; without it the text of 345 pictures is read
in the background once the demo library was loaded.

    python scripts/make_demo_texts.py
"""

import json

from store import demo
from store.disk.files import content_hash
from store.disk.images import decode, normalise
from store.pictures.glued_words import taken_apart
from store.pictures.text_reader import TextReader, reader_name


def main() -> None:
    reader, texts = TextReader(), {}
    for entry in demo.entries():
        picture = normalise(entry.folder / f"{entry.address}.jpg")  # as the library stores it
        text = reader.read(decode(picture))
        texts[content_hash(picture)] = [text, taken_apart(text)]
    rows = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(texts[key], ensure_ascii=False)}" for key in sorted(texts)
    )
    content = f'{{"reader": {json.dumps(reader_name())}, "texts": {{\n{rows}\n}}}}\n'
    (demo.FOLDER / demo.TEXTS).write_text(content, encoding="utf-8")
    print(f"{len(texts)} pictures, text in {sum(bool(text) for text, _ in texts.values())}")


if __name__ == "__main__":
    main()
