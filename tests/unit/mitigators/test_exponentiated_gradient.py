"""Exponentiated gradient: fairlearn's mixture, exactly, behind our contract."""

import sys

import fairlearn.reductions as fr
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomy.errors import InputError, MissingExtra, NotApplicable, UnknownName
from isonomy.mitigators import ExponentiatedGradient
from isonomy.mitigators._mixture import favorable_share
from isonomy.mitigators._reductions import CONSTRAINTS, Shared, lean, make_constraint
from isonomy.models import metered_fits

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:fairlearn")

MOMENTS = {
    "demographic_parity": fr.DemographicParity,
    "equal_opportunity": fr.TruePositiveRateParity,
    "predictive_equality": fr.FalsePositiveRateParity,
    "equalized_odds": fr.EqualizedOdds,
    "error_rate_parity": fr.ErrorRateParity,
    "bounded_group_loss": lambda: fr.BoundedGroupLoss(fr.ZeroOneLoss(), upper_bound=0.2),
}


def case(groups: int = 2, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    s = np.arange(n) % groups
    X = np.column_stack([s, rng.normal(s, 1.0), rng.normal(size=n)])
    return X, (X[:, 1] + X[:, 2] + rng.normal(0, 1, n) > 0.6).astype(int), s


def test_every_constraint_of_fairlearn_has_a_name() -> None:
    assert set(MOMENTS) == set(CONSTRAINTS)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_mixture_is_fairlearns_own(constraint: str) -> None:
    X, y, s = case(3)
    theirs = fr.ExponentiatedGradient(LogisticRegression(), MOMENTS[constraint](), max_iter=8)
    theirs.fit(X, y, sensitive_features=s)
    bound = 0.2 if constraint == "bounded_group_loss" else None
    options = {"constraint": constraint, "bound": bound, "max_iter": 8}
    ours = ExponentiatedGradient(LogisticRegression(), **options)
    ours.fit(X, y, sensitive_features=s)
    assert ours.gap_ == theirs.best_gap_
    pmf = theirs._pmf_predict(X)
    if constraint == "bounded_group_loss":  # fairlearn gives each model's prediction there
        expected = pmf.to_numpy() @ theirs.weights_[pmf.columns].to_numpy()
        np.testing.assert_allclose(ours.predict_proba(X)[:, 1], expected, rtol=0, atol=1e-12)
        return
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], pmf[:, 1], rtol=0, atol=1e-12)
    published = ExponentiatedGradient(
        LogisticRegression(), **options, protocol="as_published", random_state=7
    )
    published.fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(published.predict(X), theirs.predict(X, random_state=7))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            {"ratio": 0.9, "bound": 0.02, "max_iter": 6},
            {"constraints": fr.DemographicParity(ratio_bound=0.9, ratio_bound_slack=0.02)},
        ),
        (
            {"eps": 0.05, "max_iter": 6, "nu": 1e-6, "eta0": 1.0, "run_linprog_step": False},
            {"constraints": fr.DemographicParity()},
        ),
        (
            {"costs": {"fp": 0.6, "fn": 0.4}, "max_iter": 6},
            {
                "constraints": fr.DemographicParity(),
                "objective": fr.ErrorRate(costs={"fp": 0.6, "fn": 0.4}),
            },
        ),
    ],
)
def test_options_reach_fairlearn(ours: dict, theirs: dict) -> None:
    X, y, s = case()
    alike = {k: v for k, v in ours.items() if k not in ("ratio", "bound", "costs")}
    reference = fr.ExponentiatedGradient(LogisticRegression(), **theirs, **alike)
    expected = reference.fit(X, y, sensitive_features=s)._pmf_predict(X)[:, 1]
    fair = ExponentiatedGradient(LogisticRegression(), **ours).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(fair.predict_proba(X)[:, 1], expected, rtol=0, atol=1e-12)


def test_the_disparity_is_within_the_bound_on_average() -> None:
    X, y, s = case()
    fair = ExponentiatedGradient(LogisticRegression(), bound=0.02).fit(X, y, sensitive_features=s)
    p = fair.predict_proba(X)[:, 1]
    assert len(fair.weights_) > 1
    assert fair.weights_.sum() == pytest.approx(1.0)
    # each group is within the bound of all rows, up to the duality gap on the price scale
    assert abs(p[s == 1].mean() - p.mean()) <= 0.02 + fair.gap_
    assert abs(p[s == 0].mean() - p.mean()) <= 0.02 + fair.gap_
    plain = LogisticRegression().fit(X, y).predict(X)
    assert abs(plain[s == 1].mean() - plain[s == 0].mean()) > 0.2


def test_the_published_probability_is_a_hundred_draws() -> None:
    X, y, s = case()
    options = {"bound": 0.02, "max_iter": 10, "random_state": 4}
    exact = ExponentiatedGradient(LogisticRegression(), **options)
    p = exact.fit(X, y, sensitive_features=s).predict_proba(X)[:, 1]
    drawn = ExponentiatedGradient(LogisticRegression(), **options, protocol="as_published")
    q = drawn.fit(X, y, sensitive_features=s).predict_proba(X)[:, 1]
    np.testing.assert_allclose(q * 100, np.round(q * 100), atol=1e-9)
    np.testing.assert_array_equal(q[(p == 0) | (p == 1)], p[(p == 0) | (p == 1)])
    between = (p > 0) & (p < 1)
    assert between.any()
    z = (q - p)[between] / np.sqrt(p * (1 - p) / 100)[between]
    assert 0 < np.abs(z).max() < 5
    few = drawn.set_params(draws=4).predict_proba(X)[:, 1]
    np.testing.assert_allclose(few * 4, np.round(few * 4), atol=1e-9)


def test_labels_follow_the_probabilities() -> None:
    X, y, s = case()
    fair = ExponentiatedGradient(LogisticRegression(), bound=0.02, max_iter=10)
    fair.fit(X, y, sensitive_features=s)
    p = fair.predict_proba(X)[:, 1]
    total = np.zeros(len(y))
    for seed in range(400):
        total += fair.set_params(random_state=seed).predict(X)
    assert np.abs(total / 400 - p).max() < 4.5 * np.sqrt(0.25 / 400)


def test_a_pipeline_gets_its_weights_and_data_are_not_kept() -> None:
    X, y, s = case()
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    fair = ExponentiatedGradient(pipe, max_iter=6).fit(X, y, sensitive_features=s)
    assert all(type(model) is type(pipe) for model in fair.predictors_)
    held = [v for model in fair.predictors_ for v in vars(model).values()]
    assert not any(v is X for v in held)


def test_constant_answers_of_fairlearn_are_kept() -> None:
    X, y, s = case()

    class Game:
        def fit(self, rows, y, sensitive_features):
            self.predictors_ = [
                DummyClassifier(strategy="constant", constant=1).fit(rows, y * 0 + 1)
            ]

    fair = ExponentiatedGradient()
    fair._reduce(Game(), y, s, None)
    fair.weights_ = np.ones(1)
    np.testing.assert_array_equal(fair.mixture(X), np.ones(len(y)))


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, s = case(n=60)

    def fit(weight=None, **options):
        ExponentiatedGradient(max_iter=1, **options).fit(
            X, y, sensitive_features=s, sample_weight=weight
        )

    with pytest.raises(UnknownName, match="did you mean 'equalized_odds'"):
        fit(constraint="equalised_odds")
    with pytest.raises(InputError, match="needs bound"):
        fit(constraint="bounded_group_loss")
    with pytest.raises(InputError, match="has its own"):
        fit(constraint=fr.DemographicParity(), bound=0.1)
    with pytest.raises(InputError, match="draws must be at least 1"):
        fit(draws=0)
    with pytest.raises(NotApplicable, match="no sample_weight"):
        fit(weight=np.arange(60) + 1.0)
    moment = fr.DemographicParity(difference_bound=0.3)
    assert make_constraint(moment, None, None, who="test") is moment
    monkeypatch.setitem(sys.modules, "fairlearn.reductions", None)
    with pytest.raises(MissingExtra, match=r"isonomy\[fairlearn\]"):
        fit()


class Counted(StandardScaler):
    """A scaler that counts its fits."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("protocol", ["corrected", "as_published"])
@pytest.mark.parametrize("first", [Counted(), SelectKBest(k=2)], ids=["scale", "select"])
def test_what_fits_share_changes_no_number(first, protocol: str) -> None:
    X, y, s = case(3)
    pipe = make_pipeline(first, LogisticRegression())
    theirs = fr.ExponentiatedGradient(pipe_of(first), fr.DemographicParity(), max_iter=8)
    theirs.fit(X, y, sensitive_features=s)
    Counted.fits = 0
    ours = ExponentiatedGradient(pipe, max_iter=8, protocol=protocol)
    ours.fit(X, y, sensitive_features=s)
    assert ours.gap_ == pytest.approx(theirs.best_gap_, abs=1e-12)
    np.testing.assert_allclose(ours.mixture(X), theirs._pmf_predict(X)[:, 1], rtol=0, atol=1e-12)
    if isinstance(first, Counted):  # as published nothing is shared; a selection follows the labels
        # once for all, and once more to see that labels make no difference
        assert (Counted.fits == 2) == (protocol == "corrected")


def pipe_of(first):
    """The same pipeline, handing fairlearn's weights to its learner."""

    class Weighted(Pipeline):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y, logisticregression__sample_weight=sample_weight)

    return Weighted(make_pipeline(clone(first), LogisticRegression()).steps)


def test_equal_rounds_in_a_row_are_one_fit() -> None:
    X, y, _ = case()
    with metered_fits() as meter:
        fits = Shared(make_pipeline(StandardScaler(), LogisticRegression()), X, y)
        once, again = fits.fit(y, np.ones(len(y))), fits.fit(y.copy(), np.ones(len(y)))
        other = fits.fit(y, 1.0 + y)
    assert meter.fits == 2
    assert once[0] is again[0]
    cold = make_pipeline(StandardScaler(), LogisticRegression())
    cold.fit(X, y, logisticregression__sample_weight=1.0 + y)
    np.testing.assert_array_equal(other[0].predict_proba(X), cold.predict_proba(X))
    np.testing.assert_array_equal(other[1], cold.predict(X))


@pytest.mark.parametrize("kind", [fr.DemographicParity, fr.EqualizedOdds, fr.ErrorRateParity])
def test_a_lean_constraint_gives_fairlearns_numbers(kind) -> None:
    X, y, s = case(3)
    plain, quick = kind(difference_bound=0.02), lean(kind)(difference_bound=0.02)
    for moment in (plain, quick):
        moment.load_data(X, pd.Series(y), sensitive_features=pd.Series(s))
    rng = np.random.default_rng(0)
    prices = pd.Series(rng.uniform(0, 5, len(plain.index)), plain.index)
    pd.testing.assert_series_equal(quick.bound(), plain.bound())
    for given in (prices, prices.sample(frac=1, random_state=0)):  # whatever their order
        pd.testing.assert_series_equal(
            quick.signed_weights(given), plain.signed_weights(given), check_names=False
        )
    for given in (prices, prices, prices + 1):  # asked again, and asked something else
        pd.testing.assert_series_equal(quick.project_lambda(given), plain.project_lambda(given))
    labels = rng.integers(0, 2, len(y))
    pd.testing.assert_series_equal(
        quick.gamma(lambda X: labels), plain.gamma(lambda X: labels), check_names=False
    )
    errors = [m.default_objective() for m in (plain, quick)]
    for error in errors:
        error.load_data(X, pd.Series(y), sensitive_features=pd.Series(s))
    pd.testing.assert_series_equal(*(error.gamma(lambda X: labels) for error in errors))


def test_scores_may_be_the_mean_of_probabilities_and_labels_stay_those_of_votes() -> None:
    X, y, s = case()
    votes = ExponentiatedGradient(LogisticRegression(), max_iter=8).fit(X, y, sensitive_features=s)
    soft = ExponentiatedGradient(LogisticRegression(), max_iter=8, scores="probabilities")
    soft.fit(X, y, sensitive_features=s)
    own = soft.weights_ @ [m.predict_proba(X)[:, 1] for m in soft.predictors_]
    np.testing.assert_allclose(soft.predict_proba(X)[:, 1], own, atol=1e-12)
    np.testing.assert_array_equal(soft.predict(X), votes.predict(X))
    # votes jump where a flipped attribute changes one, the mean changes by little
    other = np.column_stack([1 - X[:, 0], X[:, 1:]])
    jump, change = (
        np.abs(m.predict_proba(other)[:, 1] - m.predict_proba(X)[:, 1]).max() for m in (votes, soft)
    )
    assert change < jump / 2


def test_a_constant_model_of_the_mixture_has_its_share_too() -> None:
    """Where a round's labels are all alike fairlearn answers with a constant."""
    never = DummyClassifier(strategy="constant", constant=0).fit([[0]], [0])
    always = DummyClassifier(strategy="constant", constant=1).fit([[0]], [1])
    assert favorable_share(never, np.zeros((2, 1))).tolist() == [0, 0]
    assert favorable_share(always, np.zeros((2, 1))).tolist() == [1, 1]
