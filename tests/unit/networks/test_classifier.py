"""The networks of the studies, and the contract of scikit-learn."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from isonomy.errors import InputError, UnknownName
from isonomy.mitigators import MITIGATORS
from isonomy.models import make_model
from isonomy.networks import (
    NETWORKS,
    NetworkClassifier,
    make_network,
    quick_torch,
)
from isonomy.testing import MITIGATOR_CHECKS

needs_torch = pytest.mark.torch

ABSENT = """
import sys
class Absent:
    def find_spec(self, name, *rest):
        if name.split(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
"""


def test_the_networks_of_the_studies() -> None:
    expected = {
        "dl": (64, 32, 16, 8, 4),
        "dl2": (50, 30, 15, 10, 5),
        "dl3": (30, 20, 15, 10, 5),
        "dl4": (30, 20, 15, 15, 10),
    }
    for name, hidden in expected.items():
        network = make_model(name, "chen", random_state=4)
        assert isinstance(network, NetworkClassifier)
        assert network.get_params() == {
            "hidden": hidden,
            "optimizer": "nadam",
            "learning_rate": 0.001,
            "l2": 0.0,
            "n_epochs": 20,
            "batch_size": 32,
            "random_state": 4,
        }
    dnn = make_network("dnn")
    assert (dnn.optimizer, dnn.n_epochs, len(dnn.hidden) + 1) == ("adam", 25, 6)
    with pytest.raises(UnknownName, match="did you mean 'dl4'"):
        make_network("dl5.4")


def test_without_torch_one_sentence_names_the_extra() -> None:
    code = (
        "from isonomy.errors import MissingExtra\n"
        "from isonomy.models import make_model\n"
        "try:\n"
        "    make_model('dl').fit([[0.0], [1.0]], [0, 1])\n"
        "except MissingExtra as error:\n"
        "    assert 'isonomy[torch]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('fitted without torch')\n"
    )
    subprocess.run([sys.executable, "-c", ABSENT + code], check=True)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_epochs": 0}, "n_epochs must be at least 1; got 0"),
        ({"hidden": (4, 0)}, r"hidden must hold numbers of units; got \(4, 0\)"),
        ({"learning_rate": 0}, "learning_rate must be positive"),
        ({"l2": -1.0}, "l2 not negative"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        NetworkClassifier(**settings).fit([[0.0], [1.0]], [0, 1])


def test_an_unknown_optimizer_gets_a_hint() -> None:
    with pytest.raises(UnknownName, match="did you mean 'nadam'"):
        NetworkClassifier(optimizer="nadan").fit([[0.0], [1.0]], [0, 1])


@needs_torch
def test_it_learns_what_a_line_cannot(torch: Any, rows) -> None:
    X, y = rows
    network = NetworkClassifier((16, 8), n_epochs=60, learning_rate=0.01, random_state=0)
    assert network.fit(X, y).score(X, y) > 0.88
    assert make_model("lr").fit(X, y).score(X, y) < 0.8
    three = (X[:, 0] > -0.5).astype(int) + (X[:, 0] > 0.5)
    words = np.array(["low", "middle", "high"])[three]
    network.fit(X, words)
    assert network.score(X, words) > 0.9
    assert network.classes_.tolist() == ["high", "low", "middle"]
    np.testing.assert_allclose(network.predict_proba(X).sum(axis=1), 1)


@needs_torch
def test_seeds_decide_and_nothing_global_does(torch: Any, rows) -> None:
    X, y = rows
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    one, same, other = (make_network("dl3", seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.get_num_threads() == threads
    tiny = torch.tensor(1e-30), torch.tensor(1e-10)
    with quick_torch(torch):
        assert torch.get_num_threads() == 1
        assert float(tiny[0] * tiny[1]) == 0.0
    assert float(tiny[0] * tiny[1]) > 0.0


@needs_torch
def test_copies_and_inputs(torch: Any, rows) -> None:
    X, y = rows
    network = make_network("dl4", 0).fit(X, y)
    expected = network.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(network)).predict_proba(X), expected)
    np.testing.assert_array_equal(clone(network).fit(X, y).predict_proba(X), expected)
    thin = network.predict_proba(sparse.csr_matrix(X))
    np.testing.assert_allclose(thin, expected, atol=1e-6)
    fitted_thin = clone(network).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(fitted_thin.predict_proba(X), expected, atol=1e-6)
    with pytest.raises(InputError, match="at least two classes"):
        network.fit(X, np.ones(len(X)))
    with pytest.raises(InputError, match="same number of rows"):
        network.fit(X, y, np.ones(3))


@needs_torch
def test_a_fitted_network_needs_no_torch(torch: Any, rows, tmp_path) -> None:
    X, y = rows
    (tmp_path / "network.pickle").write_bytes(pickle.dumps(make_network("dl3", 0).fit(X, y)))
    code = (
        "import pickle\n"
        "network = pickle.load(open('network.pickle', 'rb'))\n"
        "assert network.predict([[0.0, 0.0, 0.0, 0.0]]).shape == (1,)\n"
    )
    subprocess.run([sys.executable, "-c", ABSENT + code], check=True, cwd=tmp_path)


@needs_torch
def test_scikit_learns_own_checks(torch: Any) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    same = "the order of the rows is drawn, so that a row twice is not a weight of two"
    check_estimator(
        NetworkClassifier((16,), n_epochs=60, learning_rate=0.01, random_state=0),
        expected_failed_checks={
            "check_sample_weight_equivalence_on_dense_data": same,
            "check_sample_weight_equivalence_on_sparse_data": same,
        },
        on_skip=None,
    )


@needs_torch
@pytest.mark.parametrize("check", ["fits_and_predicts", "probabilities_are_probabilities"])
@pytest.mark.parametrize("name", MITIGATORS)
def test_a_network_under_every_mitigator(torch: Any, name: str, check: str) -> None:
    # Two refuse by a sentence: Fairway to tune what it has no space for, calibrated equalized
    # odds, unless as published, costs that a network of three epochs leaves beyond repair.
    quick: dict[str, dict[str, Any]] = {
        "exponentiated_gradient": {"max_iter": 3},
        "minimax": {"rounds": 3},
        "fairway": {"tune": False},
        "calibrated_equalized_odds": {"protocol": "as_published", "cost": "fnr"},
    }
    mitigator = MITIGATORS[name](**quick.get(name, {}))
    if "estimator" in mitigator.get_params() and name in OWN_MODEL:
        pytest.skip("the method is its own model")
    network = NetworkClassifier((8, 4), n_epochs=3, random_state=0)
    MITIGATOR_CHECKS[check](mitigator.set_params(estimator=network))


OWN_MODEL = {"adversarial_debiasing", "meta_fair_classifier", "prejudice_remover"}
assert set(NETWORKS) == {"dnn", "dl", "dl2", "dl3", "dl4"}
