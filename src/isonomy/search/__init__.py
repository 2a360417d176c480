"""Black-box search over parameter spaces: minimise any number over any parameters.

A space maps names to parameters; an objective takes one configuration (a dict) and returns a number
to be minimised. Nothing here knows what the number means, so the same strategies tune a
learner for accuracy, a mitigator for a trade-off, or a sampler for a tail.

=============  ==================================================================================
``grid``       every configuration of a finite space, in order
``random``     the defaults first, then independent draws
``flash``      a regression tree, refitted on what was evaluated, decides which draws are worth an
               evaluation (Nair et al., 2018, as Fairway and MAAT use it)
``mutation``   changes one parameter of the best configuration so far, with fresh draws in between
               (the black-box strategy of Parfait-ML: Tizpaz-Niari et al., 2022)
``guided``     as ``mutation``, from configurations that were best once and from those that showed
               a behaviour not seen before (Parfait-ML's coverage-guided strategy)
=============  ==================================================================================
"""

from isonomy.search.cache import Cache, JsonLinesCache
from isonomy.search.space import Choice, Config, Parameter, Real, Space, Whole
from isonomy.search.strategies import (
    STRATEGIES,
    Evaluation,
    Search,
    minimize,
)

__all__ = [
    "Cache",
    "Choice",
    "Config",
    "Evaluation",
    "JsonLinesCache",
    "Parameter",
    "Real",
    "STRATEGIES",
    "Search",
    "Space",
    "Whole",
    "minimize",
]
