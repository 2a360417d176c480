"""Causes of unequal runs that several studies share."""

from isonomy.papers.cells import Cause

TENSORFLOW = Cause(
    "TensorFlow draws first weights and dropout by generators of its own, which NumPy's stream "
    "does not replay",
    "adversarial_debiasing",
)
