"""Small fully connected networks: building blocks, and scikit-learn classifiers made of them.

Networks of one shape are trained side by side in about half the time that they take one after the
other (:func:`fit_networks`), and each becomes the one that it becomes alone. The fitted weights are
stored as NumPy arrays and applied by :func:`forward`, so that a fitted network predicts, and is
pickled and loaded, without torch. The generators and adversarial debiasing use the same blocks.
"""

from isonomy.networks.blocks import (
    Layers,
    Parameters,
    forward,
    glorot_bound,
    layer_shapes,
    quick_torch,
    torch_library,
)
from isonomy.networks.classifier import (
    NETWORKS,
    NetworkClassifier,
    fit_networks,
    is_network,
    make_network,
)

__all__ = [
    "Layers",
    "NETWORKS",
    "NetworkClassifier",
    "Parameters",
    "fit_networks",
    "forward",
    "glorot_bound",
    "is_network",
    "layer_shapes",
    "make_network",
    "quick_torch",
    "torch_library",
]
