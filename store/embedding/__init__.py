"""Models that turn texts and pictures into vectors, chosen by name.

    openclip:ViT-L-14/openai                    OpenAI's CLIP, the reference; any open_clip model and tag
    openclip:ViT-L-14/openai@/path/to/file.pt   the same from a checkpoint file
    offline                                     works without internet, in the repository
    offline:text                                the same for texts alone, in 384 dimensions
    sentence-transformers:all-MiniLM-L6-v2      text only; any sentence-transformers model on this machine
    universal:multilingual-v3                   text only; 16 languages in one space
    litellm:text-embedding-3-small              any embeddings endpoint; pictures where the model reads them
    remote:openai/clip-vit-large-patch14        a model of the server at MEMEDEX_EMBEDDING_SERVER
    auto                                        CLIP if its weights are on this machine, else offline

Nothing heavy is imported before a model is used, and nothing is downloaded unless the user asks for it.
"""

from store.embedding.protocol import OFFLINE, OFFLINE_TEXT, REFERENCE, Embedder, Vector, reading
from store.errors import ModelUnavailable

__all__ = [
    "OFFLINE",
    "REFERENCE",
    "Embedder",
    "Vector",
    "model_download",
    "open_embedder",
    "reading",
    "resolve",
]


def resolve(name: str) -> str:
    """A model's full name: `auto` becomes CLIP if its weights are on this machine, else `offline`."""
    if name != "auto":
        return name
    from store.embedding.openclip import has_weights

    return REFERENCE if has_weights(REFERENCE.partition(":")[2]) else OFFLINE


def open_embedder(name: str) -> Embedder:
    """The model of this name, without loading its weights. Raises ModelUnavailable with the remedy."""
    family, _, model = resolve(name).partition(":")
    if family == OFFLINE and not model:
        from store.embedding.offline import OfflineEmbedder

        return OfflineEmbedder()
    if name == OFFLINE_TEXT:
        from store.embedding.offline import OfflineTextEmbedder

        return OfflineTextEmbedder()
    if family == "openclip" and model:
        from store.embedding.openclip import OpenClipEmbedder

        return OpenClipEmbedder(model)
    if family == "sentence-transformers" and model:
        from store.embedding.sentence_transformer import open_sentence_transformer

        return open_sentence_transformer(model)
    if (family, model) == ("universal", "multilingual-v3"):
        from store.embedding.multilingual import UniversalSentenceEncoder

        return UniversalSentenceEncoder()
    if family == "litellm" and model:
        from store.embedding.endpoints import EndpointEmbedder

        return EndpointEmbedder(model)
    if family == "remote" and model:
        from store.embedding.endpoints import RemoteEmbedder

        return RemoteEmbedder(model)
    raise ModelUnavailable(
        f"no model is called {name!r}: use auto, offline, offline:text, openclip:MODEL/TAG, "
        "sentence-transformers:NAME, universal:multilingual-v3, litellm:NAME or remote:NAME "
        "(MEMEDEX_EMBEDDER)"
    )
