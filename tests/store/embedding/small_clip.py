"""A small CLIP with random weights, as open_clip makes it."""

from pathlib import Path

from store.embedding.local_weights import define_missing_operators, stay_offline

SMALL = "ViT-S-32-alt"  # vectors of 256 numbers


def write(path: Path, *, seed: int = 1) -> Path:
    """Write a checkpoint; equal seeds give equal weights."""
    stay_offline()
    define_missing_operators()
    import open_clip
    import torch

    own = open_clip.factory._MODEL_CONFIGS[SMALL]
    own["vision_cfg"] |= {
        "layers": 2,
        "width": 64,
    }  # a hundredth of the work; what comes out has the same shape
    own["text_cfg"] |= {"layers": 2, "width": 64}
    torch.manual_seed(seed)
    torch.save(open_clip.create_model(SMALL).state_dict(), path)
    return path
