"""A text longer than the model's window is embedded to its end."""

from pathlib import Path

from store.embedding import open_embedder


def test_a_text_longer_than_the_model_window_is_embedded_to_its_end(tmp_path: Path) -> None:
    start, end = "The harbour lies in fog. " * 60, "Kangaroos play the violin. " * 60
    embedder = open_embedder("sentence-transformers:all-MiniLM-L6-v2")
    assert embedder.count_tokens(start) > embedder.token_limit
    whole, alone, question = embedder.embed_texts([start + end, start, "violins and kangaroos"])
    assert float(whole @ question) > float(alone @ question) + 0.1
