"""Models that several users share."""

import threading
from collections.abc import Callable

from store.embedding.protocol import Embedder


def with_shared_models(models: Callable[[str], Embedder]) -> Callable[[str], Embedder]:
    """Like `models`, which opens a model by its name, but each name is opened once; thread-safe."""
    opened: dict[str, Embedder] = {}
    lock = threading.Lock()

    def model(name: str) -> Embedder:
        with lock:
            if name not in opened:
                opened[name] = models(name)
            return opened[name]

    return model
