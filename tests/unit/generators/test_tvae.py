"""TVAE and what both deep generators share: modes, encodings, gradients, domains."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.mixture import BayesianGaussianMixture

from isonomy.errors import InputError, NotApplicable
from isonomy.generators import Tvae, make_generator, quality
from isonomy.generators.columns import Columns
from isonomy.generators.modes import Encoding, Modes, fit_modes
from isonomy.generators.tvae import Autoencoder

needs_torch = pytest.mark.torch


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="the extra torch is not installed")


def make_people(n: int, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n, p=[0.3, 0.7])
    gain = np.where(rng.random(n) < 0.8, 0, rng.integers(1000, 9000, n))
    return pd.DataFrame(
        {
            "sex": pd.Categorical(sex),
            "age": rng.integers(18, 80, n).astype(np.int16),
            "pay": rng.normal(10, 1, n) + 6.0 * (sex == "M"),
            "gain": gain,
            "good": (gain > 0) | (rng.random(n) < 0.2),
        }
    )


# ---------------------------------------------------------------------------------- modes


def test_modes_are_found() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(-5, 0.5, 3000), rng.normal(0, 2, 5000), np.full(2000, 7.0)])
    modes = fit_modes(x)
    assert modes.share.sum() == pytest.approx(1)
    spike = int(np.abs(modes.mean - 7.0).argmin())
    assert modes.mean[spike] == pytest.approx(7.0, abs=1e-12)
    assert modes.deviation[spike] < 1e-5
    assert modes.share[spike] == pytest.approx(0.2, abs=0.01)
    left = modes.mean < -4
    assert modes.share[left].sum() == pytest.approx(0.3, abs=0.04)
    p = modes.responsibilities(np.array([-5.0, 7.0]))
    assert p[0, left].sum() > 0.9
    assert p[1, spike] > 0.999


def test_modes_describe_a_column_as_well_as_scikit_learns_mixture() -> None:
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(0, 1, 2000), rng.normal(6, 0.5, 1000), rng.gamma(2, 3, 2000)])
    ours = fit_modes(x)
    theirs = BayesianGaussianMixture(
        n_components=10, weight_concentration_prior=0.001, max_iter=2000, tol=1e-2, random_state=0
    ).fit(x[:, None])
    kept = theirs.weights_ > 0.005
    other = Modes(
        theirs.weights_[kept] / theirs.weights_[kept].sum(),
        theirs.means_[kept, 0],
        np.sqrt(theirs.covariances_[kept, 0, 0]),
    )

    def likelihood(m: Modes) -> float:
        z = (x[:, None] - m.mean) / m.deviation
        density = (m.share / m.deviation * np.exp(-0.5 * z**2)).sum(axis=1) / np.sqrt(2 * np.pi)
        return float(np.log(density).mean())

    assert likelihood(ours) > likelihood(other) - 0.02


@pytest.mark.parametrize("n", [3, 12, 5000])
def test_any_column_has_modes(n: int) -> None:
    x = np.linspace(0.0, 1.0, n) ** 3
    modes = fit_modes(x)
    assert np.isfinite([modes.share, modes.mean, modes.deviation]).all()
    assert (modes.deviation > 0).all()
    constant = fit_modes(np.full(n, 4.0))
    assert (constant.mean.tolist(), constant.share.tolist()) == ([4.0], [1.0])


def test_rows_survive_the_encoding() -> None:
    people = make_people(2000)
    columns = Columns(people)
    points = columns.points(people)
    encoding = Encoding(columns, points)
    values, chosen = encoding.encode(points, np.random.default_rng(0))
    back = encoding.decode(values, chosen)
    assert (np.abs(values) <= 1).all()
    # beyond four deviations of its mode a value is cut; with modes drawn that is rare
    assert (np.abs(back - points).max(axis=1) > 1e-6).mean() < 0.002
    flags = encoding.one_hot(chosen)
    assert flags.shape[1] + len(encoding.numbers) == encoding.width
    np.testing.assert_array_equal(flags.sum(axis=1), len(encoding.sizes))
    start = encoding.starts[len(encoding.numbers)]  # sex: F is the first value
    np.testing.assert_array_equal(flags[:, start] == 1, people["sex"] == "F")


def test_entries_are_drawn_from_their_softmax() -> None:
    people = make_people(500)
    columns = Columns(people)
    encoding = Encoding(columns, columns.points(people))
    logits = np.zeros((40_000, int(encoding.sizes.sum())), dtype=np.float32)
    sex = len(encoding.numbers)
    logits[:, encoding.starts[sex]] = np.log(3.0)
    drawn = encoding.draw(logits, np.random.default_rng(3))
    assert abs((drawn[:, sex] == 0).mean() - 0.75) < 0.01
    first = np.bincount(drawn[:, 0], minlength=encoding.sizes[0]) / 40_000
    np.testing.assert_allclose(first, 1 / encoding.sizes[0], atol=0.01)


# ----------------------------------------------------------------------------------- TVAE


@needs_torch
def test_the_gradient_is_autograds(torch: Any) -> None:
    people = make_people(300)
    columns = Columns(people)
    points = columns.points(people)
    encoding = Encoding(columns, points)
    values, chosen = encoding.encode(points, np.random.default_rng(0))
    x = torch.from_numpy(np.hstack([values, encoding.one_hot(chosen)]).astype(np.float32))[:40]
    generator = torch.Generator().manual_seed(1)
    settings = Tvae(latent=6, hidden=9, learning_rate=0.1, l2=0.0, reconstruction=2.0)
    machine = Autoencoder(torch, encoding, generator, settings)
    state = generator.get_state()
    machine.gradient(x)
    generator.set_state(state)
    noise = torch.empty(40, 6).normal_(generator=generator)

    parts = [part.clone().requires_grad_() for part in machine.parameters.parts]
    e, d, deviation = parts[:6], parts[6:12], parts[12]
    level = ((x @ e[0] + e[1]).relu() @ e[2] + e[3]).relu() @ e[4] + e[5]
    mean, log_variance = level[:, :6], level[:, 6:]
    z = mean + (0.5 * log_variance).exp() * noise
    out = ((z @ d[0] + d[1]).relu() @ d[2] + d[3]).relu() @ d[4] + d[5]
    a = len(encoding.numbers)
    normal = torch.distributions.Normal(out[:, :a].tanh(), deviation)
    fit = normal.log_prob(x[:, :a]).sum()
    for start, size in zip(encoding.starts + a, encoding.sizes, strict=True):
        own = x[:, start : start + size].argmax(1)
        fit = fit - torch.nn.functional.cross_entropy(
            out[:, start : start + size], own, reduction="sum"
        )
    prior = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum()
    loss = (-2.0 * fit + prior) / 40
    for ours, expected in zip(
        machine.parameters.slopes, torch.autograd.grad(loss, parts), strict=True
    ):
        torch.testing.assert_close(ours, expected, rtol=2e-4, atol=2e-5)


@pytest.fixture(scope="module")
def fitted() -> Tvae:
    pytest.importorskip("torch", reason="the extra torch is not installed")
    return Tvae(hidden=64, latent=16, n_epochs=60, batch_size=200, random_state=1).fit(
        make_people(2000)
    )


@needs_torch
def test_rows_are_in_the_domain_and_hang_together(fitted: Tvae) -> None:
    people = make_people(2000)
    rows = fitted.sample(3000, 2)
    pd.testing.assert_series_equal(rows.dtypes, people.dtypes)
    for name in ("age", "pay", "gain"):
        assert rows[name].between(people[name].min(), people[name].max()).all()
    assert abs((rows["sex"] == "F").mean() - 0.3) < 0.1
    by_sex = rows.groupby("sex", observed=True)["pay"].mean()
    assert by_sex["M"] - by_sex["F"] > 4, "the pay of both groups is learnt"
    assert abs((rows["gain"] == 0).mean() - 0.8) < 0.1, "the zeros are zeros"
    assert rows.loc[rows["gain"] > 0, "good"].mean() > rows.loc[rows["gain"] == 0, "good"].mean()
    better = quality(people, rows)
    worse = quality(people, make_generator("independent").fit(people).sample(3000, 2))
    assert better.fid < worse.fid / 2
    assert better.kl > worse.kl
    assert better.detection > worse.detection


@needs_torch
def test_conditions_seeds_and_copies(fitted: Tvae) -> None:
    women = fitted.sample(400, 3, condition={"sex": "F"})
    assert set(women["sex"]) == {"F"}
    assert len(women) == 400
    assert women["pay"].mean() < 12.5
    again = pickle.loads(pickle.dumps(fitted)).sample(400, 3, condition={"sex": "F"})
    pd.testing.assert_frame_equal(women, again)
    assert not women.equals(fitted.sample(400, 4, condition={"sex": "F"}))


@needs_torch
def test_fitting_repeats_itself_and_leaves_torch_alone(torch: Any) -> None:
    people = make_people(300)
    small = Tvae(hidden=8, latent=4, n_epochs=2, batch_size=100, random_state=3)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one, two = (clone(small).fit(people).sample(50, 1) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert torch.equal(before, torch.get_rng_state())
    other = clone(small).set_params(random_state=4).fit(people).sample(50, 1)
    assert not one.equals(other)
    few = clone(small).set_params(batch_size=5000).fit(people.iloc[:30]).sample(5, 1)
    assert len(few) == 5, "fewer rows than a batch are one batch"


@needs_torch
@pytest.mark.parametrize("columns", [["age", "pay"], ["sex", "good"], ["pay"]])
def test_tables_of_one_kind_only(torch: Any, columns: list[str]) -> None:
    people = make_people(300)[columns]
    rows = Tvae(hidden=8, latent=4, n_epochs=2, batch_size=100).fit(people).sample(20, 1)
    assert rows.shape == (20, len(columns))


@needs_torch
def test_a_group_that_is_hardly_ever_drawn(torch: Any) -> None:
    people = make_people(400)
    fitted = Tvae(hidden=8, latent=4, n_epochs=1, batch_size=200).fit(people)
    fitted.weights_[5][:] = 0.0
    fitted.weights_[5][fitted.encoding_.starts[3] + 3] = 60.0  # F, whatever the latent vector
    with pytest.raises(NotApplicable, match="tvae hardly ever draws sex = 'M'"):
        fitted.sample(10_000, 1, condition={"sex": "M"})


def test_settings_that_cannot_be() -> None:
    with pytest.raises(InputError, match="n_epochs must be at least 1; got 0"):
        Tvae(n_epochs=0).fit(make_people(50))
