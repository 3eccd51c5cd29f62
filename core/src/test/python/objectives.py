#!/usr/bin/env python3
"""Writes the fixtures of RecordedObjectivesTests: losses and gradients that PyTorch computes in float64.

    python3 objectives.py > ../resources/dev/flotilla/model/objectives.json

Needs torch. Losses are sums; counts are the divisors that Flotilla uses. Inputs are written too.
"""
import json
import sys

import torch
import torch.nn.functional as F


def case(name, shape, targets, loss, count):
    logits = (torch.randn(shape, dtype=torch.float64) * 2).requires_grad_()
    value = loss(logits, targets)
    value.backward()
    return {
        "name": name,
        "shape": list(shape),
        "outputs": logits.detach().flatten().tolist(),
        "target_shape": list(targets.shape),
        "targets": targets.flatten().tolist(),
        "whole": not targets.is_floating_point(),
        "sum": value.item(),
        "count": count,
        "gradient": logits.grad.flatten().tolist(),
    }


def cases():
    classes = torch.randint(0, 4, (6,))
    weights = torch.tensor([0.5, 1.0, 2.0, 0.0], dtype=torch.float64)
    ce = lambda **more: lambda z, y: F.cross_entropy(z, y, reduction="sum", **more)
    yield case("plain", (6, 4), classes, ce(), 6)
    yield case("smoothing", (6, 4), classes, ce(label_smoothing=0.1), 6)
    yield case("weights", (6, 4), classes, ce(weight=weights), 6)
    yield case("weights, smoothing", (6, 4), classes, ce(weight=weights, label_smoothing=0.1), 6)
    some = torch.tensor([3, -100, 0, -100, 2, 1])
    yield case("ignored", (6, 4), some, ce(ignore_index=-100), 4)
    yield case(
        "all", (6, 4), some, ce(weight=weights, label_smoothing=0.2, ignore_index=-100), 4
    )
    pixels = torch.randint(0, 3, (2, 2, 3))
    pixels[0, 1, 2] = 1
    kept = int((pixels != 1).sum())
    yield case("pixels", (2, 3, 2, 3), pixels, ce(ignore_index=1), kept)
    answers = torch.tensor([[0.0, 1.0], [0.25, 1.0], [1.0, 0.0]], dtype=torch.float64)
    bce = lambda z, y: F.binary_cross_entropy_with_logits(z, y.double(), reduction="sum")
    yield case("binary", (3, 2), answers, bce, 6)
    yield case("binary, whole", (3, 2), answers.round().long(), bce, 6)
    numbers = torch.randn(3, 2, dtype=torch.float64) * 2
    yield case("squared", (3, 2), numbers, lambda z, y: F.mse_loss(z, y, reduction="sum"), 6)
    yield case("absolute", (3, 2), numbers, lambda z, y: F.l1_loss(z, y, reduction="sum"), 6)
    yield case(
        "huber", (3, 2), numbers, lambda z, y: F.huber_loss(z, y, reduction="sum", delta=0.7), 6
    )
    heavy = torch.tensor([3.0, 0.5], dtype=torch.float64)
    positive = lambda weight: lambda z, y: F.binary_cross_entropy_with_logits(
        z, y.double(), pos_weight=weight, reduction="sum"
    )
    yield case("binary, weight", (3, 2), answers, positive(torch.tensor(2.5).double()), 6)
    yield case("binary, weights", (3, 2), answers, positive(heavy), 6)
    # Means, which Flotilla states as a sum over samples.
    mean = lambda **more: lambda z, y: 6 * F.cross_entropy(z, y, **more)
    yield case("weighted mean", (6, 4), classes, mean(weight=weights), 6)
    yield case(
        "weighted mean, all",
        (6, 4),
        some,
        mean(weight=weights, label_smoothing=0.2, ignore_index=-100),
        6,
    )
    two = lambda z, y: 6 * (
        F.cross_entropy(z, y, ignore_index=-100) + 0.5 * F.cross_entropy(z, y, weight=weights)
    )
    yield case("two at once", (6, 4), some, two, 6)


def main():
    torch.manual_seed(1)
    json.dump({"torch": torch.__version__, "cases": list(cases())}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
