"""What a mitigator declares on its class: its parameters, and what its work depends on."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, dataclass_transform


@dataclass(frozen=True)
class ByParameters:
    """A declaration that depends on the parameters: ``usual`` is that of the class.

    Examples
    --------
    >>> class Demo:
    ...     old = False
    ...     needs_more = ByParameters(False, lambda self: self.old)
    >>> one = Demo()
    >>> one.old = True
    >>> Demo.needs_more, Demo().needs_more, one.needs_more
    (False, False, True)
    """

    usual: bool
    of: Callable[[Any], bool]

    def __get__(self, instance: Any, owner: type) -> bool:
        return self.usual if instance is None else self.of(instance)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class Declared:
    """Gives every subclass the ``__init__`` that its annotated class attributes declare.

    ``strength: float = 1.0`` in the body of a class is a keyword argument that is stored as it
    is, as scikit-learn asks of its estimators; those of the parents come along.
    """

    # What a method declares: a study shares work by it, and check_mitigator proves it.
    name: ClassVar[str]
    stage: ClassVar[str]
    label: ClassVar[str]
    advice: ClassVar[str]
    reference: ClassVar[str]
    version: ClassVar[str] = "1"
    """Rises when results change; stored runs of another version are not mixed with new ones."""
    corrected_version: ClassVar[str | None] = None
    """The version under the corrected protocol where it changed and as_published did not."""
    needs_sensitive_at_predict: ClassVar[bool] = False
    """Whether predict reads the protected attribute."""
    costly: ClassVar[bool] = False
    """Whether it takes many fits: left out of a quick benchmark, and dropped there once beaten."""
    uses_estimator: ClassVar[bool] = True
    """Whether anything depends on the base learner; a method that is its own model has none."""
    takes_frame: ClassVar[bool] = False
    """Whether it works on columns as they are, words included, instead of on numbers."""
    needs_numbers: ClassVar[bool] = False
    """Whether it computes with X itself, so that words become numbers whatever the learner takes."""
    randomized: ClassVar[bool] = False
    """Whether ``random_state`` matters to what is predicted."""
    draws_to_predict: ClassVar[bool] = False
    """Whether predict itself draws lots."""
    multi_group: ClassVar[bool] = False
    """Whether each of several groups counts by itself, or the privileged against the rest."""
    several: ClassVar[str] = ""
    """What several protected attributes are to it, where :meth:`with_several` does not say it."""
    multi_class: ClassVar[bool] = False
    """Whether y may have more than two classes."""
    one_against_rest: ClassVar[bool] = False
    """Whether more than two classes are served by one mitigator for each, the others together."""
    dataset_options: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Parameters that a study may set by dataset (``"@dataset"``), with the datasets' values."""
    aims: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Fairness goals (``isonomy.mitigators.aims``), with the parameters that aim it at each."""
    objectives: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Performance metrics that it can be told to maximise, with the parameters for each."""
    strength_values: ClassVar[Mapping[str, Sequence[Any]]] = {}
    """The one parameter that makes it stronger, with the values to try, the weakest first."""
    cheap_to_tune: ClassVar[bool] = False
    """Whether a benchmark tries these values without being asked: few fits, or none."""
    free_after_fit: ClassVar[tuple[str, ...]] = ()
    """Parameters that a fitted mitigator may be given other values of, because no fit reads them."""
    probabilities_from_estimator: ClassVar[bool] = False
    """Whether there are probabilities only where the base learner has them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(eq=False, repr=False, kw_only=True)(cls)
        own = [name for name, value in vars(cls).items() if inspect.isfunction(value)]
        if not all(name.startswith("__") for name in own):
            # New code: what the parent declared of its own may be false here. Share nothing.
            for name in ("uses_estimator", "transform_uses_estimator", "rule_uses_estimator"):
                if name not in vars(cls) and hasattr(cls, name):
                    setattr(cls, name, True)
            if "free_after_fit" not in vars(cls):
                cls.free_after_fit = ()

    @classmethod
    def with_several(cls) -> str:
        """Return in a sentence what the method does with several protected attributes."""
        if cls.several:
            return cls.several
        if cls.multi_group:
            return "their intersections are the groups, and each counts by itself"
        return (
            "cannot tell their intersections apart: those who are privileged in every attribute are "
            "set against all others, and gaps among the others stay unseen"
        )

    @classmethod
    def version_of(cls, protocol: str) -> str:
        """Return the version of the results under a protocol."""
        own = cls.corrected_version if protocol == "corrected" else None
        return own or cls.version
