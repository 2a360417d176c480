"""No mitigation at all: the base learner as it is."""

from isonomy.mitigators.base import MITIGATORS
from isonomy.mitigators.stages import PreProcessor


@MITIGATORS.register("unmitigated", aliases=("default",))
class Unmitigated(PreProcessor):
    """The base learner as it is, so that a comparison has its starting point.

    Takes the arguments of every mitigator and changes nothing; the protected attribute is read
    only to describe the groups.

    Notes
    -----
    **Protocols**

    Both are the same.

    Examples
    --------
    >>> from isonomy.mitigators import Unmitigated
    >>> model = Unmitigated().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1],
    ...                           sensitive_features=["a", "b", "a", "b"])
    >>> model.predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """

    label = "Default"
    advice = "The starting point of every comparison; changes nothing."
    reference = "none"
    transform_uses_estimator = False
    several = "the original model: nothing is done, whatever the attributes"
    multi_group = True
    multi_class = True
