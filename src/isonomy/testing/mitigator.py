"""The contract of a mitigator."""

import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_html_repr

from isonomy._names import format_name
from isonomy._validate import given_as
from isonomy.errors import InputError, IsonomyWarning, NotApplicable
from isonomy.metrics import get_metric
from isonomy.mitigators import BaseMitigator, PostProcessor, PreProcessor
from isonomy.mitigators.aims import GOALS, goals_of
from isonomy.mitigators.base import STAGES
from isonomy.models import fit_model

DECLARATIONS = (
    "needs_sensitive_at_predict",
    "uses_estimator",
    "transform_uses_estimator",
    "rule_uses_estimator",
    "takes_frame",
    "needs_numbers",
    "randomized",
    "draws_to_predict",
    "multi_group",
    "multi_class",
)
"""What a mitigator says of itself in yes and no."""


def check_mitigator(mitigator: BaseMitigator) -> None:
    """Raise AssertionError unless a mitigator keeps the whole contract.

    Parameters
    ----------
    mitigator : BaseMitigator
        An unfitted mitigator with the parameters to test it with.

    Examples
    --------
    >>> from isonomy.mitigators import Reweighing
    >>> check_mitigator(Reweighing())
    """
    if not isinstance(mitigator, BaseMitigator):
        raise InputError(
            f"mitigator must be a mitigator, such as Reweighing(); got {given_as(mitigator)}."
        )
    for check in MITIGATOR_CHECKS.values():
        check(clone(mitigator))


def _case(n: int = 240, groups: int = 2) -> tuple[pd.DataFrame, NDArray[Any], Any]:
    """Make a small numeric table whose label depends on the group; every cell is filled."""
    rng = np.random.default_rng(7)
    s = pd.Series(np.arange(n) % groups, name="group")
    skill = rng.integers(0, 5, n)
    years = np.clip(skill // 2 + rng.integers(0, 2, n), 0, 2)
    merit = skill + years + s.to_numpy() / (groups - 1) + rng.normal(0, 1.5, n)
    y = (merit > 3.5).astype(int)
    return pd.DataFrame({"group": s, "skill": skill, "years": years}).astype(float), y, s


def _fit(mitigator: BaseMitigator, X: Any, y: Any, s: Any, **more: Any) -> BaseMitigator:
    with warnings.catch_warnings(action="ignore", category=IsonomyWarning):
        return mitigator.fit(X, y, sensitive_features=s, **more)


def _predict(mitigator: BaseMitigator, X: Any, s: Any) -> NDArray[Any]:
    given = s if mitigator.needs_sensitive_at_predict else None
    return mitigator.predict(X, sensitive_features=given)


def _refusal(act: Callable[[], Any], kind: type[Exception]) -> str:
    """Return the sentence with which something is refused."""
    try:
        act()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised: wrong input was accepted")


def _fitted(mitigator: BaseMitigator) -> tuple[BaseMitigator, pd.DataFrame, Any, Any]:
    X, y, s = _case()
    return _fit(mitigator, X, y, s), X, y, s


def _describes_itself(m: BaseMitigator) -> None:
    assert m.stage in STAGES
    for attribute in ("name", "label", "version", "advice", "reference"):
        said = getattr(m, attribute, "")
        assert isinstance(said, str), f"{attribute} is text"
        assert said, f'the class has no {attribute}: write {attribute} = "..."'
    for attribute in DECLARATIONS:
        assert isinstance(getattr(m, attribute, False), bool), attribute
    unknown = set(m.dataset_options) - set(m.get_params(deep=False))
    assert not unknown, f"dataset_options names no parameter: {unknown}"
    assert "\n" not in m.advice
    assert "**Protocols**" in (m.__doc__ or ""), (
        "the Notes of the docstring have no **Protocols**: what differs between as_published and "
        "corrected"
    )
    with warnings.catch_warnings(action="error"):
        # scikit-learn reads the docstring for it
        estimator_html_repr(m)


def _stores_only(m: BaseMitigator) -> None:
    before = dict(vars(m))
    params = m.get_params(deep=False)
    assert set(before) == set(params), "__init__ stores its arguments and nothing else"
    for key, value in params.items():
        assert before[key] is value, f"__init__ changes {key}"
    assert repr(clone(m)) == repr(m)


def _fits_and_predicts(m: BaseMitigator) -> None:
    m, X, y, s = _fitted(m)
    labels = _predict(m, X, s)
    assert labels.shape == y.shape
    assert set(np.unique(labels)) <= set(m.classes_.tolist()) == {0, 1}
    assert m.n_features_in_ == X.shape[1]
    assert list(m.feature_names_in_) == list(X.columns)
    assert m.groups_ == [0, 1]
    assert m.privileged_ == (1,)


def _probabilities_are_probabilities(m: BaseMitigator) -> None:
    m, X, y, s = _fitted(m)
    given = s if m.needs_sensitive_at_predict else None
    p = m.predict_proba(X, sensitive_features=given)
    assert p.shape == (len(y), 2)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def _repeats_itself(m: BaseMitigator) -> None:
    X, y, s = _case()
    state = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    first = _fit(clone(m), X, y, s)
    labels = _predict(first, X, s)
    np.testing.assert_array_equal(labels, _predict(first, X, s), "predict twice")
    np.testing.assert_array_equal(labels, _predict(_fit(clone(m), X, y, s), X, s), "fit twice")
    now = np.random.get_state()[1]  # type: ignore[index]  # noqa: NPY002
    assert (now == state).all(), "draws from NumPy's global random numbers"


def _leaves_its_input_alone(m: BaseMitigator) -> None:
    X, y, s = _case()
    kept = X.copy(), y.copy(), s.copy()
    _predict(_fit(m, X, y, s), X, s)
    pd.testing.assert_frame_equal(X, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    pd.testing.assert_series_equal(s, kept[2])


def _takes_text_labels(m: BaseMitigator) -> None:
    """Fit with words, the favourable one being first in sorted order."""
    X, y, s = _case()
    plain = _predict(_fit(clone(m), X, y, s), X, s)
    words = pd.Series(np.where(y == 1, "granted", "refused"))
    sex = pd.Series(np.where(s == 1, "b", "a"), name="group")
    asked = clone(m).set_params(favorable="granted", privileged="b")
    fitted = _fit(asked, X, words, sex)
    assert fitted.favorable_ == "granted"
    labels = _predict(fitted, X, sex)
    # A learner may see the classes in the other order, which moves a tie but no more.
    assert np.mean((labels == "granted") == (plain == 1)) > 0.97
    p = fitted.predict_proba(X, sensitive_features=sex)[:, list(fitted.classes_).index("granted")]
    assert p[labels == "granted"].mean() >= p.mean()


def _takes_arrays_and_polars(m: BaseMitigator) -> None:
    X, y, s = _case()
    expected = _predict(_fit(clone(m), X, y, s), X, s)
    asked = clone(m).set_params(sensitive_columns=[0])
    array = X.to_numpy()
    named = _predict(_fit(clone(m).set_params(sensitive_columns=["group"]), X, y, s), X, s)
    for rows in (array, pd.DataFrame(array)):  # a frame whose names are whole numbers
        fitted = _fit(clone(asked), rows, y.tolist(), s.tolist())
        np.testing.assert_array_equal(_predict(fitted, rows, s), named)
    try:
        import polars as pl
    except ImportError:
        return
    frame = pl.DataFrame(X.to_dict("list"))
    labels = _predict(
        _fit(clone(m), frame, pl.Series("y", y), pl.Series("group", s.to_numpy())), frame, s
    )
    np.testing.assert_array_equal(labels, expected)


def _takes_numbered_columns(m: BaseMitigator) -> None:
    X, y, s = _case()
    asked = clone(m).set_params(sensitive_columns=[0])
    array, numbered = X.to_numpy(), pd.DataFrame(X.to_numpy())
    np.testing.assert_array_equal(
        _predict(_fit(clone(asked), numbered, y, s), numbered, s),
        _predict(_fit(clone(asked), array, y, s), array, s),
    )


def _takes_words_and_gaps(m: BaseMitigator) -> None:
    """Fit on a frame as people have it: words, a missing number, the attribute among them."""
    X, y, s = _case()
    words = X.assign(group=np.where(s == 1, "b", "a"), skill=X["skill"].map("level {:.0f}".format))
    if not m.takes_frame:
        words.loc[::7, "years"] = np.nan
    labels = _predict(_fit(m, words, y, words["group"]), words, words["group"])
    assert set(labels) <= {0, 1}


def _refuses_two_columns_of_one_name(m: BaseMitigator) -> None:
    X, y, s = _case()
    doubled = X.set_axis(["group", "skill", "skill"], axis=1)
    assert "'skill' occurs more than once" in _refusal(lambda: _fit(m, doubled, y, s), InputError)


def _drops_rows_of_no_group(m: BaseMitigator) -> None:
    """Fit as if the rows had not been there; predict them by the mean over the groups."""
    X, y, s = _case()
    unknown = s.astype(object)
    unknown[:3] = [None, "Unknown", np.nan]
    asked = m.set_params(missing="drop", sensitive_columns=["group"])
    fitted = _fit(clone(asked), X, y, unknown)
    assert fitted.groups_ == [0, 1]
    rest = X[3:].reset_index(drop=True)
    known = s[3:].reset_index(drop=True)
    without = _fit(clone(asked), rest, y[3:], known)
    np.testing.assert_array_equal(_predict(fitted, rest, known), _predict(without, rest, known))
    labels = _predict(fitted, X, unknown)
    assert set(labels) <= {0, 1}
    if not m.draws_to_predict:
        np.testing.assert_array_equal(labels[3:], _predict(fitted, rest, known))
    refused = clone(asked).set_params(missing="error")
    assert "3 of 240" in _refusal(lambda: _fit(refused, X, y, unknown), InputError)


def _equal_weights_are_no_weights(m: BaseMitigator) -> None:
    X, y, s = _case()
    plain = _predict(_fit(clone(m), X, y, s), X, s)
    try:
        weighted = _fit(clone(m), X, y, s, sample_weight=np.ones(len(y)))
    except (NotApplicable, InputError):
        return  # refused in words
    np.testing.assert_array_equal(_predict(weighted, X, s), plain)


def _serves_many_groups_or_says_so(m: BaseMitigator) -> None:
    X, y, s = _case(n=360, groups=3)
    if m.multi_group:
        fitted = _fit(m, X, y, s)
        assert len(_predict(fitted, X, s)) == len(y)
        assert fitted.groups_ == [0, 1, 2]
        return
    message = _refusal(lambda: _fit(clone(m), X, y, s), NotApplicable)
    assert "privileged" in message, "three groups without a privileged one must be refused"
    fitted = _fit(clone(m).set_params(privileged=[2]), X, y, s)
    assert fitted.privileged_ == (2,)
    assert len(_predict(fitted, X, s)) == len(y)


def _serves_many_classes_or_says_so(m: BaseMitigator) -> None:
    X, y, s = _case()
    three = y + (X["skill"].to_numpy() > 3)
    if m.multi_class or m.one_against_rest:
        assert set(_predict(_fit(m, X, three, s), X, s)) <= {0, 1, 2}
    else:
        assert "classes" in _refusal(lambda: _fit(m, X, three, s), NotApplicable)


def _learners() -> tuple[BaseEstimator, BaseEstimator]:
    """Make two learners that agree on hardly anything."""
    return DecisionTreeClassifier(random_state=0), DummyClassifier(strategy="prior")


def _depends_on_the_learner_as_declared(m: BaseMitigator) -> None:
    """Do the work beside two learners: what is declared not to use them comes out the same."""
    X, y, s = _case()
    one, other = (clone(m).set_params(estimator=learner) for learner in _learners())
    if not m.uses_estimator:
        labels = [_predict(_fit(each, X, y, s), X, s) for each in (one, other)]
        message = "uses_estimator is False, and yet it does"
        np.testing.assert_array_equal(labels[0], labels[1], message)
    elif isinstance(one, PreProcessor) and not one.transform_uses_estimator:
        _shares_its_transform(one, other, X, y, s)
    elif isinstance(one, PostProcessor) and not one.rule_uses_estimator:
        _shares_its_scores(one, other, X, y, s)


def _shares_its_transform(one: Any, other: Any, X: Any, y: Any, s: Any) -> None:
    rows = []
    for each in (one, other):
        new = each.resample(*each.encode(X, y, sensitive_features=s))
        rows.append([*new, each.transform(*each.encode_rows(X, sensitive_features=s))])
    for first, second in zip(*rows, strict=True):
        np.testing.assert_array_equal(
            first, second, "transform_uses_estimator is False, and yet it does"
        )
    table, codes, _, w, X_new = rows[1]
    model: Any = fit_model(one.base_learner(), table, other.decode(codes), w)
    np.testing.assert_array_equal(
        model.predict(X_new),
        _predict(_fit(clone(one), X, y, s), X, s),
        "fit is more than a model of the resampled rows: declare transform_uses_estimator = True",
    )


def _shares_its_scores(one: Any, other: Any, X: Any, y: Any, s: Any) -> None:
    one.set_params(fit_on="train")
    model: Any = fit_model(one.base_learner(), X, y)
    labels, scores = model.predict(X), model.predict_proba(X)[:, 1]
    adjusted = []
    for each in (clone(one), other):
        with warnings.catch_warnings(action="ignore", category=IsonomyWarning):
            _, y01, codes, _ = each.encode(X, y, sensitive_features=s)
            each.fit_scores(scores, labels, y01, codes)
        adjusted.append(each.decode(each.adjust(scores, labels, codes)))
    message = "rule_uses_estimator is False, and yet it does"
    np.testing.assert_array_equal(adjusted[0], adjusted[1], message)
    np.testing.assert_array_equal(
        adjusted[0],
        _predict(_fit(clone(one), X, y, s), X, s),
        "fit is more than a rule on scores and labels: declare rule_uses_estimator = True",
    )


def _draws_as_declared(m: BaseMitigator) -> None:
    X, y, s = _case()
    fitted = _fit(clone(m), X, y, s)
    labels = _predict(fitted, X, s)
    if not m.draws_to_predict:
        again = _predict(fitted.set_params(random_state=1), X, s)
        np.testing.assert_array_equal(again, labels, "draws_to_predict is False, and yet it does")
    if not m.randomized:
        again = _predict(_fit(clone(m).set_params(random_state=1), X, y, s), X, s)
        np.testing.assert_array_equal(again, labels, "randomized is False, and yet it draws")


def _aims_as_declared(m: BaseMitigator) -> None:
    """Set every aim, objective and strength: each is accepted, fits, and is what was asked for."""
    X, y, s = _case()
    unknown = set(m.aims) - set(GOALS)
    assert not unknown, f"aims names no goal of isonomy.mitigators.aims: {unknown}"
    for metric in m.objectives:
        assert get_metric(metric).kind == "performance", f"objectives: {metric} is no performance"
    assert len(m.strength_values) <= 1, "strength_values: one parameter is the strength"
    assert m.strength_values or not m.cheap_to_tune, "cheap_to_tune, but there are no values"
    for goal, parameters in m.aims.items():
        for other, others in m.aims.items():
            aimed = goals_of(format_name(m.name, parameters))
            assert (other in aimed) == (others.items() <= parameters.items() or others == {}), (
                f"aimed at {goal}, it says that it aims at {aimed}"
            )
    wanted = [*m.aims.values(), *m.objectives.values()]
    for parameters in (dict(p) for p in {tuple(sorted(p.items())) for p in wanted} if p):
        fitted = _fit(clone(m).set_params(**parameters), X, y, s)
        assert len(_predict(fitted, X, s)) == len(y), parameters
    for name, values in m.strength_values.items():
        groups = s if m.needs_sensitive_at_predict else None
        apart = (X["skill"].to_numpy() + s.to_numpy() > 2).astype(int)  # much to mitigate
        weak, strong = (
            _fit(clone(m).set_params(**{name: value}), X, apart, s).predict_proba(
                X, sensitive_features=groups
            )
            for value in (values[0], values[-1])
        )
        assert (weak != strong).any(), f"{name} is declared to be the strength and changes nothing"


def _takes_words_if_declared(m: BaseMitigator) -> None:
    if not m.takes_frame:
        return  # numbers: that arrays serve is checked elsewhere
    X, y, s = _case()
    words = X.astype({"skill": int}).astype({"skill": str}).astype({"skill": "category"})
    assert len(_predict(_fit(m, words, y, s), words, s)) == len(y)


def _takes_several_attributes(m: BaseMitigator) -> None:
    X, y, s = _case()
    two = pd.DataFrame({"group": s, "late": (np.arange(len(y)) // 2) % 2})
    fitted = _fit(m.set_params(privileged={"group": 1}), X, y, two)
    assert (1, 0) in fitted.groups_
    assert set(fitted.privileged_ or ()) == {(1, 0), (1, 1)}
    assert len(_predict(fitted, X, two)) == len(y)


def _reads_its_groups_from_x(m: BaseMitigator) -> None:
    X, y, s = _case()
    asked = m.set_params(sensitive_columns="group")
    with warnings.catch_warnings(action="ignore", category=IsonomyWarning):
        fitted = clone(asked).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), _predict(_fit(clone(asked), X, y, s), X, s))


def _refuses_in_words(m: BaseMitigator) -> None:
    X, y, s = _case()
    wrong: list[Callable[[], Any]] = [
        lambda: clone(m).fit(X, y),
        lambda: clone(m).fit(X, y, sensitive_features=s[:-1]),
        lambda: clone(m).fit(X, y[:-1], sensitive_features=s),
        lambda: clone(m).fit(X, np.zeros_like(y), sensitive_features=s),
        lambda: clone(m).set_params(protocol="magic").fit(X, y, sensitive_features=s),
        lambda: clone(m).set_params(favorable=3).fit(X, y, sensitive_features=s),
        lambda: clone(m).set_params(privileged=3).fit(X, y, sensitive_features=s),
    ]
    for number, act in enumerate(wrong):
        assert _refusal(act, InputError).endswith((".", "?")), f"wrong input {number}"
    alone = np.zeros(len(y))
    assert "two groups" in _refusal(lambda: _fit(clone(m), X, y, alone), NotApplicable)


def _checks_what_predict_is_given(m: BaseMitigator) -> None:
    m, X, _, s = _fitted(m)
    assert _refusal(lambda: _predict(m, X[["group"]], s), ValueError)
    if not m.needs_sensitive_at_predict:
        np.testing.assert_array_equal(m.predict(X), m.predict(X, sensitive_features=s))
        return
    for strange in (None, np.full(len(s), 9)):
        act = partial(m.predict, X, sensitive_features=strange)
        assert _refusal(act, InputError).endswith(".")


def _pickles(m: BaseMitigator) -> None:
    m, X, _, s = _fitted(m)
    again = pickle.loads(pickle.dumps(m))
    np.testing.assert_array_equal(_predict(again, X, s), _predict(m, X, s))


def _works_in_a_pipeline(m: BaseMitigator) -> None:
    X, y, s = _case()
    pipe = make_pipeline(FunctionTransformer(), m)
    step = pipe.steps[-1][0]
    with warnings.catch_warnings(action="ignore", category=IsonomyWarning):
        pipe.fit(X, y, **{f"{step}__sensitive_features": s})
    given = {"sensitive_features": s} if m.needs_sensitive_at_predict else {}
    alone = _predict(_fit(clone(m), X, y, s), X, s)
    np.testing.assert_array_equal(pipe.predict(X, **given), alone)


def _works_in_a_grid_search(m: BaseMitigator) -> None:
    """Scorers call predict(X), so the protected attribute is read from X."""
    X, y, s = _case()
    asked = m.set_params(sensitive_columns="group")
    search = GridSearchCV(asked, {"protocol": ["corrected"]}, cv=2, error_score="raise")
    with warnings.catch_warnings(action="ignore", category=IsonomyWarning):
        search.fit(X, y, sensitive_features=s)
    assert 0 <= search.best_score_ <= 1


MITIGATOR_CHECKS: dict[str, Callable[[BaseMitigator], None]] = {
    check.__name__.strip("_"): check
    for check in (
        _describes_itself,
        _stores_only,
        _fits_and_predicts,
        _probabilities_are_probabilities,
        _repeats_itself,
        _leaves_its_input_alone,
        _takes_text_labels,
        _takes_arrays_and_polars,
        _takes_numbered_columns,
        _takes_words_and_gaps,
        _refuses_two_columns_of_one_name,
        _drops_rows_of_no_group,
        _equal_weights_are_no_weights,
        _serves_many_groups_or_says_so,
        _serves_many_classes_or_says_so,
        _depends_on_the_learner_as_declared,
        _draws_as_declared,
        _aims_as_declared,
        _takes_words_if_declared,
        _takes_several_attributes,
        _reads_its_groups_from_x,
        _refuses_in_words,
        _checks_what_predict_is_given,
        _pickles,
        _works_in_a_pipeline,
        _works_in_a_grid_search,
    )
}
"""The clauses of the contract by name; ``check_mitigator`` runs them all."""
