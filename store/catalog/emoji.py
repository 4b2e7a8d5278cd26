"""Replace emoji by their Unicode names, because text models ignore 🐸 and captions do not contain it."""

import unicodedata

_FIRST = 0x2190  # below are © and ™, which belong to names


def in_words(text: str) -> str:
    """The text with every emoji replaced by its name: "frog" for 🐸.

    Unchanged if nothing else would be left.
    """
    if text.isascii():
        return text
    words = " ".join("".join(map(_spoken, text)).split())
    return words or text


def _spoken(character: str) -> str:
    if character in "\u200d\ufe0e\ufe0f\u20e3":  # what joins emoji, and how they are drawn
        return ""
    if ord(character) < _FIRST or unicodedata.category(character) not in ("So", "Sk"):
        return character
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # the colour of a skin
        return ""
    name = unicodedata.name(character, "").lower().removesuffix(" face").removesuffix(" symbol")
    if name.startswith("regional indicator symbol letter "):  # two of them are a flag
        return name[-1]
    return f" {name} "
