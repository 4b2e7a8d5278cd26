"""How sure the first results are, where not every coin was compared in full."""

from store.search import Certainty

_HELP = {
    "exact": "Nothing was missed: every coin was compared, most of them by a shorter form of its vectors, "
    "whose error has a proven bound. Those that may belong among the results were compared in full.",
    "proved": "A Chroma server proposed candidates for each facet. No other coin can score as much as the "
    "first results, unless the server's index overlooked it.",
    "stable": "A Chroma server proposed candidates for each facet. Half and a quarter of them give the same "
    "first results. While a slider moves, these candidates are ranked; when it rests, the server is asked.",
    "approximate": "A Chroma server proposed candidates for each facet. Other coins may belong among these.",
}


def help_of(certainty: Certainty) -> str | None:
    """What that means; None if every coin was compared in full."""
    return _HELP[certainty.level] if certainty.level != "exact" or certainty.candidates else None
