"""Metrics as scorers for scikit-learn: cross-validation and grid search by fairness."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from isonomy._groups import sorted_values
from isonomy._tables import column_names
from isonomy._validate import check_columns, listed, resolve_favorable
from isonomy.errors import InputError, NotApplicable, UndefinedMetricWarning
from isonomy.metrics.counts import Counts
from isonomy.metrics.gaps import default_comparison
from isonomy.metrics.metric import Metric, bias_of, get_metric


@dataclass(frozen=True, eq=False)
class Scorer:
    """A metric that scikit-learn calls with a fitted model and rows; :func:`scorer` makes it.

    Attributes
    ----------
    metric : Metric
    sensitive_features : tuple or None
        Columns of X that hold the protected attributes; None where they are routed.
    favorable, privileged
        As in :func:`isonomy.audit`.
    requests : mapping
        What scikit-learn is asked to pass on: see :meth:`set_score_request`.
    """

    metric: Metric
    sensitive_features: tuple[Any, ...] | None = None
    favorable: Any = None
    privileged: Any = None
    requests: dict[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Return the score of a fitted model on some rows; greater is better."""
        sensitive = self._attributes(X, sensitive_features)
        passed = (
            {"sensitive_features": sensitive}
            if sensitive is not None and _takes_attributes(estimator)
            else {}
        )
        if self.metric.needs == "scores":
            labels, good = np.asarray(estimator.classes_).tolist(), self._favorable_of(estimator)
            chances = np.asarray(estimator.predict_proba(X, **passed))
            score = chances[:, [c in good for c in labels]].sum(axis=1)
            options: dict[str, Any] = {"favorable": good[0], "sample_weight": sample_weight}
            value = self.metric.fn(y, score, **{**self.metric.parameters, **options})
            return self._signed(value, self.metric.undefined(y, score, **options) or "0 / 0")
        if sensitive is None and self.metric.kind == "group":
            raise InputError(
                f"{self.metric.name} needs the protected attribute: enable scikit-learn's metadata "
                f"routing and pass params={{'sensitive_features': ...}}, or name the column of X: "
                f"scorer({self.metric.name!r}, sensitive_features='...')."
            )
        predicted = np.asarray(estimator.predict(X, **passed))
        everyone = np.zeros(len(predicted), dtype=np.intp)
        classes = getattr(estimator, "classes_", ())
        counts = Counts.from_labels(
            y,
            predicted,
            sensitive_features=everyone if sensitive is None else sensitive,
            sample_weight=sample_weight,
            classes=sorted_values(np.asarray([*classes, *sorted_values(np.asarray(y))])),
            favorable=self.favorable,
            privileged=self.privileged if self.metric.kind == "group" else None,
        )
        why = self._one_sided(counts)
        if why is not None:
            return self._signed(np.nan, why)
        value = self.metric.fn(counts, **self.metric.parameters)
        return self._signed(value, self.metric.undefined(counts) or "0 / 0")

    def get_metadata_routing(self) -> Any:
        """Say which metadata are asked for: ``sensitive_features``, unless X holds them."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        wanted = {"sensitive_features": self.sensitive_features is None, "sample_weight": None}
        for name, alias in {**wanted, **self.requests}.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def set_score_request(self, **requests: Any) -> Self:
        """Return a scorer that asks for other metadata, for instance ``sample_weight=True``.

        Parameters
        ----------
        **requests
            ``sensitive_features`` and ``sample_weight``: True, False, None or another name, as in
            scikit-learn.
        """
        for name in requests:
            if name not in {"sensitive_features", "sample_weight"}:
                raise InputError(
                    f"A scorer can ask for sensitive_features and sample_weight; got {name!r}."
                )
        return replace(self, requests={**self.requests, **requests})

    def __repr__(self) -> str:
        named = "" if self.sensitive_features is None else f", {listed(self.sensitive_features)}"
        return f"scorer({self.metric.name!r}{named})"

    def _accept_sample_weight(self) -> bool:  # asked by scikit-learn where routing is not enabled
        return False

    def _attributes(self, X: Any, given: Any) -> Any:
        """Return the protected attributes: those that were passed, or the columns of X."""
        if given is not None or self.sensitive_features is None:
            return given
        names = column_names(X)
        if names is None:
            raise InputError(
                f"X must be a frame for its columns to be named; it is a {type(X).__name__}: pass "
                f"sensitive_features by scikit-learn's metadata routing instead."
            )
        check_columns(self.sensitive_features, names)
        return {name: X[name] for name in self.sensitive_features}

    def _favorable_of(self, estimator: Any) -> tuple[Any, ...]:
        return resolve_favorable(np.asarray(estimator.classes_).tolist(), self.favorable)

    def _one_sided(self, counts: Counts) -> str | None:
        """Say why groups cannot be compared on these rows, where they cannot."""
        if self.metric.kind != "group" or self.metric.parts is None:
            return None
        labels = [g for g, known in zip(counts.labels(), counts.known, strict=True) if known]
        if len(labels) < 2:
            return f"these rows hold {f'group {labels[0]!r} only' if labels else 'no known group'}"
        compare = self.metric.parameters["compare"] or "privileged"
        declared = self.privileged is not None and compare != "max_min"
        if not declared or default_comparison(counts) != "max_min":
            return None
        mask = counts.is_privileged()
        side = "privileged" if mask is None or not mask.any() else "unprivileged"
        return f"these rows hold no {side} group"

    def _signed(self, value: Any, why: str) -> float:
        """Return a value as a score: greater is better; NaN with a warning where undefined."""
        found = float(value)
        if np.isnan(found):
            warnings.warn(
                f"{self.metric.name} is undefined: {why}.", UndefinedMetricWarning, stacklevel=3
            )
            return found
        if self.metric.goal in {"zero", "one"}:
            return -float(bias_of(self.metric, found)) + 0.0
        return found if self.metric.goal == "max" else -found


def _takes_attributes(estimator: Any) -> bool:
    """Return whether predict is to be given the protected attributes."""
    from sklearn import get_config
    from sklearn.utils.metadata_routing import get_routing_for_object

    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        return bool(routing.consumes("predict", ["sensitive_features"]))
    needs = getattr(estimator, "needs_sensitive_at_predict", False)
    return bool(needs and getattr(estimator, "sensitive_columns", None) is None)


def scorer(
    metric: str | Metric,
    *,
    sensitive_features: Any = None,
    favorable: Any = None,
    privileged: Any = None,
) -> Scorer:
    """Make a scorer of a metric, for ``cross_val_score``, ``cross_validate`` and ``GridSearchCV``.

    Greater is better, as scikit-learn has it. A fairness metric scores minus its distance from the
    ideal: -0.1 for a statistical parity difference of 0.1 or of -0.1, -0.2 for a disparate impact
    of 0.8, and 0 at best. A performance metric scores its value, or minus it where less is better
    (error rate, Brier score).

    Where the metric is undefined on some rows, such as a fold that holds one group only, the score
    is NaN, with a warning that says why.

    Parameters
    ----------
    metric : str or Metric
        A metric of counts or of scores; see ``isonomy metrics``.
    sensitive_features : column name or several, optional
        The columns of X that hold the protected attributes (several give their intersections).
        When None, they are asked for by scikit-learn's metadata routing, which must be enabled:
        pass ``params={"sensitive_features": ...}``.
    favorable : label or several, optional
        The label(s) that are good to get; may be left out when labels are 0 / 1.
    privileged : value, collection or mapping of attribute to value(s), optional
        The group(s) the others are compared with; otherwise the largest rate is compared with the
        smallest.

    Returns
    -------
    Scorer

    Notes
    -----
    scikit-learn's own scorers pass nothing to ``predict``. A mitigator that needs the attribute
    there, such as :class:`isonomy.mitigators.EqualizedOdds`, then fails and ``cross_val_score``
    records NaN: use this function for performance metrics too (``scorer("balanced_accuracy")``).
    It passes the attributes on to ``predict`` wherever that asks for them.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.integers(0, 2, 400), "skill": rng.normal(size=400)})
    >>> y = (X["skill"] + X["sex"] > 0.5).astype(int)
    >>> gap = scorer("statistical_parity_difference", sensitive_features="sex")
    >>> cross_val_score(LogisticRegression(), X, y, scoring=gap, cv=2).round(2)
    array([-0.47, -0.43])
    """
    found = get_metric(metric)
    if found.needs not in {"counts", "scores"}:
        raise NotApplicable(
            f"A scorer must be a metric of counts or of scores; {found.name} needs {found.needs}."
        )
    if found.parameters.get("compare") == "each":
        raise NotApplicable(f"A scorer must be one number; {found.name} gives one per group.")
    several = isinstance(sensitive_features, Sequence) and not isinstance(sensitive_features, str)
    columns = None
    if sensitive_features is not None:
        columns = tuple(sensitive_features) if several else (sensitive_features,)
    return Scorer(found, columns, favorable, privileged)
