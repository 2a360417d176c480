"""The quality of generated rows, on cases that can be worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError, UnknownName
from isonomy.generators import mds_points, quality
from isonomy.generators.columns import Columns
from isonomy.generators.quality import (
    detection,
    f1_loss,
    features,
    frechet_distance,
    kl_similarity,
)


def test_the_frechet_distance_by_hand() -> None:
    a = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -2.0], [0.0, 2.0]])
    # covariances diag(2/3, 8/3) and four times that: roots differ by sqrt(2/3), sqrt(8/3)
    assert frechet_distance(a, 2 * a) == pytest.approx(2 / 3 + 8 / 3)
    assert frechet_distance(a, a + np.array([3.0, 4.0])) == pytest.approx(25.0)
    turned = a[:, ::-1]
    # the same variances on exchanged axes: 2 * (2/3 + 8/3) - 2 * 2 * sqrt(2/3 * 8/3)
    assert frechet_distance(a, turned) == pytest.approx(20 / 3 - 4 * 4 / 3)
    assert frechet_distance(a, a) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="two rows"):
        frechet_distance(a[:1], a)


def test_the_divergence_by_hand() -> None:
    real = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv")})
    made = pd.DataFrame({"a": list("xxxx"), "b": list("uvuv")})
    # combinations 1/4 each against 1/2, 1/2: KL(made | real) = log 2
    assert kl_similarity(real, made) == pytest.approx(1 / (1 + np.log(2)))
    assert np.isnan(kl_similarity(real[["a"]], made[["a"]])), "no pair"
    new = pd.DataFrame({"a": list("zzzz"), "b": list("uvuv")})
    # a value never seen counts one millionth of a row
    total = 4 + 2e-6
    assert kl_similarity(real, new) == pytest.approx(1 / (1 + np.log(0.5 / (1e-6 / total))))


def test_features_are_scaled_by_the_real_rows() -> None:
    real = pd.DataFrame({"n": np.arange(11.0), "c": list("ab") * 5 + ["a"]})
    made = pd.DataFrame({"n": [5.0, 20.0], "c": ["b", "new"]})
    assert features(Columns(real), made).tolist() == [[0.5, 0, 1], [2.0, 0, 0]]
    assert features(Columns(real), made, scaled=False)[:, 0].tolist() == [5.0, 20.0]


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    x = rng.normal(size=6000)
    y = np.where(x + rng.normal(size=6000) > 0.5, "yes", "no")
    return pd.DataFrame({"x": x, "z": rng.choice(list("abc"), 6000), "y": y})


def test_rows_of_the_same_kind_are_good_and_others_are_not(rows: pd.DataFrame) -> None:
    real, same, test = rows[:2000], rows[2000:4000], rows[4000:]
    options = {"label": "y", "favorable": "yes", "test": test}
    good = quality(real, same, **options)
    mixed = same.assign(x=same["x"].to_numpy()[::-1] + 2.0)
    bad = quality(real, mixed, **options)
    assert good.fid < 0.02 < bad.fid
    assert good.kl > 0.95
    assert good.detection > 0.85 > bad.detection
    assert abs(good.f1_loss) < 0.05 < bad.f1_loss
    assert good.frame()["metric"].tolist() == ["fid", "kl", "detection", "f1_loss"]
    assert "detection" in good._repr_html_()
    assert np.isnan(quality(real, same).f1_loss)
    same_again = quality(real, same, **options)
    assert same_again == good


def test_the_f1_loss(rows: pd.DataFrame) -> None:
    real, test = rows[:2000], rows[4000:]
    assert f1_loss(real, real, test, label="y", favorable="yes") == 0.0
    only_no = real.assign(y="no")
    whole = f1_loss(real, only_no, test, label="y", favorable="yes")
    assert 0.4 < whole < 1.0, "nothing is learnt, so that all of F1 is lost"
    with pytest.raises(InputError, match="pass test="):
        quality(real, real, label="y", favorable="yes")
    with pytest.raises(UnknownName, match="column"):
        f1_loss(real, real, test, label="why", favorable="yes")
    with pytest.raises(InputError, match="at least 3 rows"):
        detection(real, real[:2])


def test_the_picture_keeps_distances_that_fit_into_the_plane() -> None:
    frame = pd.DataFrame({"a": np.linspace(0, 1, 30) ** 2, "b": np.linspace(0, 1, 30)})
    places = mds_points(frame, frame, n=30, random_state=1)
    assert places["source"].tolist() == ["real"] * 30 + ["synthetic"] * 30
    order = np.random.RandomState(1).permutation(30)
    there = frame.to_numpy()[order]
    want = np.linalg.norm(there[:, None] - there, axis=-1)
    xy = places[["x", "y"]].to_numpy()[:30]
    np.testing.assert_allclose(np.linalg.norm(xy[:, None] - xy, axis=-1), want, atol=1e-6)
