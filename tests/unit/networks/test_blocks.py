"""Building blocks of networks."""

from typing import Any

import pytest

from isonomy.networks import Parameters

needs_torch = pytest.mark.torch


@needs_torch
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("optimizer", ["adam", "nadam", "sgd"])
def test_the_steps_are_torchs(torch: Any, optimizer: str, l2: float) -> None:
    ours = Parameters(torch, [(3, 2), (2,)], optimizer=optimizer, l2=l2)
    ours.uniform(torch.Generator().manual_seed(1))
    mirror = [part.clone().requires_grad_() for part in ours.parts]
    # the penalty is on the weights alone
    groups = [{"params": mirror[:1], "weight_decay": l2}, {"params": mirror[1:]}]
    kinds = {
        "adam": lambda p: torch.optim.Adam(p, lr=0.001, eps=1e-7),
        "nadam": lambda p: torch.optim.NAdam(p, lr=0.001, eps=1e-7),
        "sgd": lambda p: torch.optim.SGD(p, lr=0.001),
    }
    theirs = kinds[optimizer](groups)
    generator = torch.Generator().manual_seed(2)
    for _ in range(300):
        for slope, part in zip(ours.slopes, mirror, strict=True):
            slope.copy_(torch.randn(part.shape, generator=generator))
            part.grad = slope.clone()
        ours.move()
        theirs.step()
    for part, other in zip(ours.parts, mirror, strict=True):
        torch.testing.assert_close(part, other.detach(), rtol=1e-4, atol=1e-6)
