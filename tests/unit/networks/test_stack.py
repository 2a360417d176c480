"""Networks trained side by side: gradients and training as torch does them, and nobody in anybody's way."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from isonomy.networks import NetworkClassifier, fit_networks, glorot_bound, make_network
from isonomy.networks.stack import Stack

needs_torch = pytest.mark.torch


@needs_torch
@pytest.mark.parametrize("outputs", [1, 3])
def test_the_gradient_is_autograds(torch: Any, outputs: int) -> None:
    generators = [torch.Generator().manual_seed(k) for k in range(2)]
    stack = Stack(torch, [5, 7, 6, outputs], generators, batch=9)
    # intercepts away from 0, so that theirs count too
    flat = stack.parameters.flat
    flat.add_(torch.randn(flat.shape, generator=generators[0]) * 0.1)
    x = torch.randn(2, 9, 5, generator=generators[0])
    label = torch.randint(0, max(outputs, 2), (2, 9), generator=generators[0])
    w = torch.rand(2, 9, generator=generators[0])
    y = label[..., None].float() if outputs == 1 else torch.eye(outputs)[label]
    ones = torch.ones(2, 9, 1)
    stack.gradient(torch.cat([x, ones], 2), y.transpose(1, 2), w[:, None] / 9)

    for k in range(2):
        level, parts = x[k], []
        for i, weights in enumerate(stack.weights):
            parts.append(weights[k].clone().requires_grad_())
            level = (level.relu() if i else level) @ parts[-1][:, :-1].t() + parts[-1][:, -1]
        each = (
            torch.nn.functional.binary_cross_entropy_with_logits(level, y[k], reduction="none")[
                :, 0
            ]
            if outputs == 1
            else torch.nn.functional.cross_entropy(level, label[k], reduction="none")
        )
        gradients = torch.autograd.grad((each * w[k]).sum() / 9, parts)
        for slope, expected in zip(stack.slopes, gradients, strict=True):
            torch.testing.assert_close(slope[k], expected, rtol=1e-5, atol=1e-6)


@needs_torch
def test_training_is_torchs(torch: Any, rows) -> None:
    """The whole of it, against autograd and torch's own Nadam: first weights, order, short batches, steps."""
    X, y = rows
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    ours = NetworkClassifier((6, 5), n_epochs=3, random_state=4).fit(X, y, w)
    seed = int(np.random.RandomState(4).randint(2**31 - 1))
    generator, parts = torch.Generator().manual_seed(seed), []
    for shape in ((4, 6), (6, 5), (5, 1)):
        bound = glorot_bound(*shape)
        parts += [
            torch.empty(shape).uniform_(-bound, bound, generator=generator),
            torch.zeros(shape[1]),
        ]
    for part in parts:
        part.requires_grad_()
    theirs = torch.optim.NAdam(parts, lr=0.001, eps=1e-7)
    table, label, weight = (torch.tensor(a, dtype=torch.float32) for a in (X, y, w))
    for _ in range(3):
        for index in torch.randperm(len(X), generator=generator).split(32):
            level = table[index]
            for k in range(0, 6, 2):
                level = (level.relu() if k else level) @ parts[k] + parts[k + 1]
            each = torch.nn.functional.binary_cross_entropy_with_logits(
                level[:, 0], label[index], reduction="none"
            )
            theirs.zero_grad()
            (each * weight[index]).mean().backward()
            theirs.step()
    for part, other in zip(ours.coefs_ + ours.intercepts_, parts[::2] + parts[1::2], strict=True):
        np.testing.assert_allclose(part, other.detach().numpy(), atol=2e-6)
    assert ours.n_steps_ == 30


@needs_torch
@pytest.mark.parametrize(("columns", "name"), [(7, "dl3"), (58, "dl2"), (33, "dl"), (12, "dl4")])
def test_beside_others_a_network_becomes_what_it_becomes_alone(
    torch: Any, columns: int, name: str
) -> None:
    """To the last bit: more rows or fewer, weights or none, other seeds, and more than fit at once."""
    rng = np.random.default_rng(0)
    X = rng.random((300, columns))
    y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0.5).astype(int)
    given = []
    for k in range(11):
        n = 300 - 17 * (k % 5)
        w = rng.uniform(0.5, 2.0, n) if k % 2 else None
        given.append((make_network(name, k).set_params(n_epochs=2), X[:n], y[:n], w))
    given.append(
        (NetworkClassifier((3,), n_epochs=2, l2=0.1, random_state=0), X, y + (X[:, 1] > 0.5), None)
    )
    alone = [clone(network).fit(X, y, w) for network, X, y, w in given]
    fit_networks(given)
    for (network, *_), single in zip(given, alone, strict=True):
        assert network.n_steps_ == single.n_steps_
        for part, other in zip(
            network.coefs_ + network.intercepts_, single.coefs_ + single.intercepts_, strict=True
        ):
            np.testing.assert_array_equal(part, other)


@needs_torch
def test_only_weights_are_penalised(torch: Any, rows) -> None:
    X, _ = rows
    network = NetworkClassifier((6,), n_epochs=30, l2=50.0, learning_rate=0.01, random_state=0)
    network.fit(X, np.arange(300) < 240)
    assert max(np.abs(part).max() for part in network.coefs_) < 1e-2
    assert network.intercepts_[-1] > 0.7  # the share of the label alone: 4 to 1


@needs_torch
def test_the_first_weights_are_glorots(torch: Any) -> None:
    stack = Stack(torch, [40, 60, 20, 1], [torch.Generator().manual_seed(0)], batch=32)
    for both, bound in zip(stack.weights, (0.06**0.5, 0.075**0.5, (6 / 21) ** 0.5), strict=True):
        part = both[0, :, :-1]
        assert 0.9 * bound < float(part.abs().max()) <= bound
        assert abs(float(part.var()) - bound**2 / 3) < 0.4 * bound**2 / 3
        assert not both[0, :, -1].any()
