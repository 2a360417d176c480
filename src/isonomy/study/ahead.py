"""The networks of a trial fitted ahead of the methods that ask for them, side by side.

A network becomes what it becomes alone, to the last bit, in about half the time
(:func:`isonomy.networks.fit_networks`): so no result depends on what else a trial has to run.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from isonomy.models import metered_fit
from isonomy.networks import fit_networks
from isonomy.study.spec import Method
from isonomy.study.workbench import Workbench

Fits = dict[tuple[Workbench, Method | None], tuple[Any, ...]]


def fit_ahead(rows: Iterable[tuple[Workbench, Method, str]]) -> list[tuple[str, Method]]:
    """Fit the networks that some methods will ask for, and leave them on their workbenches.

    A method whose rows cannot be made, or a fit that fails, is left to the method's own turn,
    where it is told.

    Returns
    -------
    list of (model, method)
        Who asked for a network, once for each.
    """
    wanted: dict[str, Fits] = defaultdict(dict)
    asked: dict[str, list[tuple[str, Method]]] = defaultdict(list)
    for workbench, method, model in rows:
        fits = wanted[model]
        for key in (None, method):
            with suppress(Exception):
                fit = None if (workbench, key) in fits else workbench.network_fit(key, model)
                if fit is not None:
                    fits[workbench, key] = fit
                    asked[model].append((model, method))
    done = []
    for model, fits in wanted.items():
        with suppress(Exception), metered_fit():
            fit_networks(list(fits.values()))
            for (workbench, key), (network, *_) in fits.items():
                workbench.ahead[key, model] = network
            done += asked[model]
    return done
