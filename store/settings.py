"""Configuration from environment variables with the prefix MEMEDEX_ and from a `.env` file."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from store.errors import WrongSetting

_FILE = Path(".env")  # in the folder in which the program was started


class Settings(BaseSettings):
    """Every setting of the program; the table of docs/settings.md is checked against it."""

    model_config = SettingsConfigDict(env_prefix="MEMEDEX_", env_file=_FILE, extra="ignore")

    root: Path = Field(Path("res"), description="The folder that holds `memecoins/` and `memory/`.")
    embedder: str = Field("auto", description="The embedding model of a new library.")
    caption_model: str = Field(
        "", description="The language model that drafts captions, by its litellm name."
    )
    caption_api_base: str = Field("", description="Another address for the language model's API.")
    caption_timeout: float = Field(
        60.0, gt=0, description="How many seconds the language model may take for one caption."
    )
    caption_prompt: Path | None = Field(
        None, description="A text file to ask with instead of `store/llm/caption.txt`."
    )
    image_model: str = Field(
        "",
        description="The image model that draws a picture of a new coin, by its litellm name; "
        "without it a coin gets a plain card.",
    )
    image_api_base: str = Field("", description="Another address for the image model's API.")
    image_timeout: float = Field(
        120.0, gt=0, description="How many seconds the image model may take for one picture."
    )
    embedding_api_base: str = Field("", description="Another address for `litellm:` embeddings.")
    embedding_server: str = Field(
        "",
        description="The address of the server that embeds for `remote:` models, such as `http://gpu:7997`.",
    )
    embedding_token: str = Field("", description="The key that this server wants, if any.")
    trends_images_root: Path | None = Field(
        None, description="Pictures to suggest as searches; `memecoins/trends` below the root if empty."
    )
    user: str = Field("", description="Who decides, as the history names them; the login name if empty.")
    viewers: str = Field(
        "",
        description="Who may only look: e-mail addresses of logins (or names, or claims "
        "such as `groups=guests`), separated by commas. With "
        "both this list and the next one, no one else who logs in sees anything.",
    )
    curators: str = Field("", description="Who may decide, likewise; everybody who is not a viewer if empty.")
    agents: str = Field(
        "",
        description="Which agents may decide about coins over MCP, by the name of their program, such as "
        "`claude-code`, separated by commas; `*` for all. None if empty.",
    )
    administrators: str = Field(
        "", description="Who may see and end the sessions of others, likewise; if empty, only who runs it."
    )
    inbox: Path | None = Field(
        None, description="A folder that is watched: pictures and token lists put there arrive in Review."
    )
    papers: Path | None = Field(
        None,
        description="A folder that is watched: papers saved there are in the text memory within seconds; "
        "each folder in it is a protocol.",
    )
    import_folders: str = Field(
        "",
        description="Folders of the server's disk, separated by commas, below which people at other machines "
        "may name paths (to import, or a model's file); none if empty.",
    )
    read_pictures: bool = Field(
        True,
        description="`0`: the text in pictures is read only by `python -m store read-pictures`, "
        "not in the background.",
    )
    safe_mode: bool = Field(
        False,
        description="`1`: pictures unfit for the screen are blurred until clicked, "
        "unless a browser switches that off.",
    )
    presenter: bool = Field(
        False,
        description="`1`: for screens that others see: larger type, safe mode, no names of people, no "
        "passing messages, unless a browser switches that off (`?present=0`).",
    )
    fetch_private: bool = Field(
        False, description="`1`: logos may also be fetched from this machine and its own network."
    )
    ipfs_gateway: str = Field(
        "https://ipfs.io/ipfs/", description="Where logos with an `ipfs://` address are fetched from."
    )
    mcp_token: str = Field(
        "", description="What agents have to show `python -m store mcp --http`; one is made up if empty."
    )
    metrics_token: str = Field(
        "", description="What a scraper may show instead of a login to read `/metrics`."
    )
    log: Literal["text", "json"] = Field(
        "text", description="`json`: the server's log as JSON lines, one for each request among them."
    )
    chroma: Literal["on", "off"] = Field(
        "on", description="`off`: no Chroma; lists and searches need none. What it lacks waits for `on`."
    )
    chroma_url: str = Field(
        "",
        pattern="^(https?://.+)?$",  # a name alone would be read as the scheme
        description="A Chroma server, such as `http://127.0.0.1:8000`, or `https://api.trychroma.com`, "
        "that holds the collections instead of the library's folder ([scaling.md](scaling.md)).",
    )
    chroma_tenant: str = Field("default_tenant", description="The tenant on that server.")
    chroma_database: str = Field(
        "default_database", description="The database on that server; one for each library."
    )
    chroma_api_key: str = Field("", description="The key that the server, or the proxy before it, asks for.")
    pictures: str = Field(
        "",
        description="A folder or bucket for dashboards on other machines, such as `/mnt/coins` or "
        "`s3://bucket/coins`: the writer copies pictures there, a replica reads them "
        "([scaling.md](scaling.md)).",
    )
    search: Literal["memory", "server"] = Field(
        "memory",
        description="`server`: the Chroma server proposes candidates, for libraries too large for this "
        "machine's memory; nearly always the same results ([scaling.md](scaling.md)).",
    )
    read_only: bool = Field(False, description="`1`: no changes by anyone, for demos.")
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


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once. Raises WrongSetting with each variable that is wrong."""
    from dotenv import load_dotenv

    load_dotenv(_FILE)  # keys of providers too, which litellm looks for in the environment
    try:
        return Settings()
    except ValidationError as error:
        wrong = (
            f"MEMEDEX_{'_'.join(map(str, one['loc'])).upper()} is {one['input']!r}: {one['msg']}"
            for one in error.errors()
        )
        raise WrongSetting("; ".join(wrong)) from error


def keep(variables: Mapping[str, str]) -> None:
    """Use these environment variables from now on, and in later runs by the `.env` file; "" removes one.

    Raises OSError if the file cannot be written.
    """
    from dotenv import set_key, unset_key

    _FILE.touch(mode=0o600)  # keys are nobody else's business
    for name, value in variables.items():
        if value:
            set_key(_FILE, name, value)
        else:
            unset_key(_FILE, name)
    keep_until_end(variables)


def keep_until_end(variables: Mapping[str, str]) -> None:
    """Use these environment variables until this process ends; "" removes one."""
    for name, value in variables.items():
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    settings.cache_clear()
