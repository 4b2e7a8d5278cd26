"""Download the weights of an open_clip model, only on request; and the models on offer."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.embedding.local_weights import cache_folder, cached_file
from store.embedding.openclip import REFERENCE_REPOSITORY, WEIGHT_FILES, Choice, configuration, published
from store.embedding.protocol import REFERENCE
from store.errors import ModelUnavailable
from store.fetching.hub import MEGABYTE, Hub, HubFile, host, partial_size
from store.progress import Progress

# What a tokenizer of Hugging Face needs in addition to its vocabulary; not every repository has all of them.
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "tokenizer.model")


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model that a page offers to download."""

    name: str
    title: str
    repository: str
    megabytes: int  # the number of weights times four bytes; the hub names the exact size
    licence: str
    about: str

    @property
    def is_here(self) -> bool:
        """Whether its weights are on this machine; imports nothing heavy."""
        return cached_file(self.repository, *WEIGHT_FILES) is not None

    @property
    def source(self) -> str:
        """Where it is downloaded from."""
        return f"{host()}/{self.repository}"

    @property
    def missing_package(self) -> str:
        """What to install before it can be used; "" if nothing."""
        try:
            configuration(Choice.parse(self.name.partition(":")[2]).architecture)
        except ModelUnavailable as error:
            return str(error)
        return ""

    @property
    def megabytes_here(self) -> int:
        """How much of an unfinished download has come."""
        return partial_size(cache_folder(), self.repository) // MEGABYTE


OFFERED = (
    OfferedModel(
        REFERENCE, "CLIP ViT-L/14", REFERENCE_REPOSITORY, 1_711, "MIT (OpenAI)", "the reference model"
    ),
    OfferedModel(
        "openclip:ViT-B-32/openai", "CLIP ViT-B/32", "timm/vit_base_patch32_clip_224.openai", 605,
        "MIT (OpenAI)", "a third of the size, several times as fast",
    ),
    OfferedModel(
        "openclip:MobileCLIP-S2/datacompdr", "MobileCLIP S2", "apple/MobileCLIP-S2-OpenCLIP", 398,
        "Apple, for research only", "the smallest",
    ),
    OfferedModel(
        "openclip:ViT-B-16-SigLIP2/webli", "SigLIP 2 ViT-B/16", "timm/ViT-B-16-SigLIP2", 1_501,
        "Apache-2.0 (Google)", "texts in many languages; needs the package transformers",
    ),
)  # fmt: skip


def offered(name: str) -> OfferedModel | None:
    """The offered model of this name."""
    return next((model for model in OFFERED if model.name == name), None)


def download(name: str, progress: Progress) -> bool:
    """Download an open_clip model's weights; False, keeping what came, if cancelled. Raises as `fetch`."""
    with Hub() as hub:
        return fetch(hub, find(hub, name), progress)


def fetch(hub: Hub, files: Sequence[HubFile], progress: Progress) -> bool:
    """Put these files into Hugging Face's cache, continuing an earlier try, and check their hashes.

    False, keeping what has come, if `progress` is cancelled. Raises BadSource and NotWritten as `Hub.fetch`.
    """
    progress.total, progress.done = sum(file.size // MEGABYTE for file in files), 0
    # The weights last: with them the model counts as present.
    return all(hub.fetch(file, cache_folder(), progress) for file in reversed(files))


def find(hub: Hub, name: str) -> list[HubFile]:
    """The files that the model needs, its weights first, all at one commit of each repository.

    Raises ModelUnavailable if the hub does not have them, BadSource if it cannot be reached.
    """
    family, _, model = name.partition(":")
    if family != "openclip" or "@" in model:
        raise ModelUnavailable(f"{name} cannot be downloaded: name an open_clip model, openclip:MODEL/TAG")
    choice = Choice.parse(model)
    known = offered(name)
    tokenizer = configuration(choice.architecture)["text_cfg"].get("hf_tokenizer_name", "")
    source = f"{known.repository}/" if known else str(published(choice).get("hf_hub", ""))
    repository, _, file_name = source.rpartition("/")
    if not repository:
        raise ModelUnavailable(
            f"{name} is not on Hugging Face's hub: download its file, and name it with @FILE"
        )
    names = (file_name,) if file_name else WEIGHT_FILES
    weights = next(filter(None, (hub.find(repository, one) for one in names)), None)
    if weights is None:
        raise ModelUnavailable(f"{hub.host} has no {' or '.join(names)} in {repository}")
    needed = [
        hub.find(tokenizer, one, revision=weights.commit if tokenizer == repository else "main")
        for one in (_TOKENIZER if tokenizer else ())
    ]
    return [weights, *filter(None, needed)]
