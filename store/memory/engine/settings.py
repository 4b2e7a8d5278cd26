"""The models of a new root's text memory; settings with the prefix MEMEDEX_, as all others."""

from functools import lru_cache
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from store.embedding.protocol import OFFLINE_TEXT

LOCAL = "sentence-transformers:all-MiniLM-L6-v2"  # 384 dimensions; other memories have it too
DEFAULTS = {"memories": OFFLINE_TEXT}  # 384 dimensions as well; other kinds have LOCAL
MEASURED = (LOCAL, OFFLINE_TEXT)  # floors and thresholds were measured with these
DEFAULT = "default"  # in `meta`: the default model that this kind was given, since nobody chose one


class MemorySettings(BaseSettings):
    """Read when a kind of memory is created; from then on its file names its model."""

    model_config = SettingsConfigDict(env_prefix="MEMEDEX_", env_file=".env", extra="ignore")

    memory_embedder: str = Field(
        "",
        description="The model of memories, lore, sessions and transcripts; if empty, `offline:text` for "
        "memories and all-MiniLM-L6-v2 for the others.",
    )
    document_embedder: str = Field(
        "", description="The model of protocol documents, such as litellm:text-embedding-ada-002."
    )

    retrieval_log: Literal["", "ids", "texts"] = Field(
        "",
        description="What `memory/retrievals.sqlite3` keeps of each retrieval: nothing if empty, `ids` "
        "(which entries, with their scores), or `texts` (also the question and the texts).",
    )

    memory_review: Literal["", "agents", "none"] = Field(
        "",
        description="What agents write waits in *Memory → Review* until a person accepts it: `agents` "
        "everywhere, `none` nowhere; if empty, only over HTTP.",
    )
    keep_contexts: int = Field(
        0,
        ge=0,
        le=36_500,
        description="For how many days contexts that were handed out are kept, as ids and versions; "
        "`0`: not at all.",
    )

    recall_tests: Literal["words", "model", "none"] = Field(
        "words",
        description="How memories and lore are asked for every night, to name those that no question finds: "
        "by their rarest words (`words`), by questions of the language model, which is sent their texts "
        "(`model`), or not (`none`).",
    )

    def embedder_of(self, kind: str) -> str:
        """By default a local model for every kind, so that nothing uses the network."""
        chosen = self.document_embedder if kind == "documents" else ""
        return chosen or self.memory_embedder or DEFAULTS.get(kind, LOCAL)


@lru_cache(maxsize=1)
def memory_settings() -> MemorySettings:
    """The settings of this process, read once."""
    return MemorySettings()


def reviews_agents(*, over_http: bool) -> bool:
    """Whether what agents write waits for a person: as the setting says, else over HTTP."""
    chosen = memory_settings().memory_review
    return over_http if not chosen else chosen == "agents"
