#!/usr/bin/env python3
"""Writes the fixtures of RecordedOptimizersTests: what PyTorch's and timm's optimizers compute.

    python3 optimizers.py > ../resources/dev/flotilla/optim/optimizers.json

Needs torch and timm; runs in a few seconds. All numbers are float64.

Three parameters (one of which starts from zero) take 50 updates with gradients and rates that are the same
in Java: u(name, i) = (splitmix64(fnv1a64(name) + i) >> 40) / 2^24 - 0.5. Weights are decayed, the bias is not.
LAMB is timm's without its own limit of the gradient's norm, which Flotilla has apart.
"""
import json
import sys

import timm
import torch
from timm.optim import Lamb, Lars, Lion

MASK = (1 << 64) - 1
STEPS = 50
SHAPES = {"weight": (4, 5), "zero": (3, 2), "bias": (5,)}
UNDECAYED = ("bias",)


def fnv1a(name):
    hash_ = 0xCBF29CE484222325
    for char in name:
        hash_ = ((hash_ ^ ord(char)) * 0x100000001B3) & MASK
    return hash_


def uniform(name, i):
    z = (fnv1a(name) + i + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return (z >> 40) / 2.0**24 - 0.5


def values(name, shape):
    count = int(torch.Size(shape).numel())
    return torch.tensor([uniform(name, i) for i in range(count)], dtype=torch.float64).reshape(shape)


def gradient(name, shape, step):
    """Now and then ten times as large, so that what remembers the largest has something to remember."""
    return values(f"{name}/{step}", shape) * (10.0 if step % 7 == 3 else 1.0)


def rate(lr, step):
    return lr * (1 - 0.01 * step)


def train(make, lr, decay):
    parameters = {
        name: torch.nn.Parameter(values(name, shape) * (0.0 if name == "zero" else 1.0))
        for name, shape in SHAPES.items()
    }
    groups = [
        {"params": [p for n, p in parameters.items() if n not in UNDECAYED], "weight_decay": decay},
        {"params": [p for n, p in parameters.items() if n in UNDECAYED], "weight_decay": 0.0},
    ]
    optimizer = make(groups, lr)
    after = {}
    for step in range(STEPS):
        for name, parameter in parameters.items():
            parameter.grad = gradient(name, SHAPES[name], step)
        for group in optimizer.param_groups:
            group["lr"] = rate(lr, step)
        optimizer.step()
        if step in (0, STEPS - 1):
            after[str(step + 1)] = {n: p.detach().flatten().tolist() for n, p in parameters.items()}
    return after


def cases():
    optim = torch.optim
    one = dict(foreach=False)
    yield "sgd", 0.1, 0.05, lambda p, lr: optim.SGD(p, lr, **one)
    yield "momentum", 0.1, 0.05, lambda p, lr: optim.SGD(p, lr, momentum=0.9, **one)
    yield "nesterov", 0.1, 0.05, lambda p, lr: optim.SGD(p, lr, momentum=0.9, nesterov=True, **one)
    adam = dict(betas=(0.8, 0.99), eps=1e-7, **one)
    yield "adam", 0.01, 0.05, lambda p, lr: optim.Adam(p, lr, **adam)
    yield "adam, amsgrad", 0.01, 0.05, lambda p, lr: optim.Adam(p, lr, amsgrad=True, **adam)
    yield "adamw", 0.01, 0.05, lambda p, lr: optim.AdamW(p, lr, **adam)
    yield "adamw, amsgrad", 0.01, 0.05, lambda p, lr: optim.AdamW(p, lr, amsgrad=True, **adam)
    yield "rmsprop", 0.01, 0.0, lambda p, lr: optim.RMSprop(p, lr, **one)
    rms = dict(alpha=0.9, eps=1e-6, **one)
    yield "rmsprop, decay", 0.01, 0.05, lambda p, lr: optim.RMSprop(p, lr, **rms)
    yield "rmsprop, momentum", 0.01, 0.05, lambda p, lr: optim.RMSprop(p, lr, momentum=0.9, **rms)
    yield "rmsprop, centered", 0.01, 0.05, lambda p, lr: optim.RMSprop(p, lr, centered=True, **rms)
    yield "rmsprop, centered, momentum", 0.01, 0.05, lambda p, lr: optim.RMSprop(
        p, lr, centered=True, momentum=0.9, **rms
    )
    yield "adagrad", 0.1, 0.0, lambda p, lr: optim.Adagrad(p, lr, **one)
    yield "adagrad, all settings", 0.1, 0.05, lambda p, lr: optim.Adagrad(
        p, lr, lr_decay=0.02, initial_accumulator_value=0.1, eps=1e-7, **one
    )
    lamb = dict(betas=(0.8, 0.99), eps=1e-7, max_grad_norm=None)
    yield "lamb", 0.01, 0.05, lambda p, lr: Lamb(p, lr, **lamb)
    yield "lamb, always", 0.01, 0.05, lambda p, lr: Lamb(p, lr, always_adapt=True, **lamb)
    yield "lamb, clipped ratio", 0.01, 0.05, lambda p, lr: Lamb(p, lr, trust_clip=True, **lamb)
    lars = dict(momentum=0.9, trust_coeff=0.02, eps=1e-6)
    yield "lars", 1.0, 0.05, lambda p, lr: Lars(p, lr, **lars)
    yield "lars, nesterov, always", 1.0, 0.05, lambda p, lr: Lars(
        p, lr, nesterov=True, always_adapt=True, **lars
    )
    yield "lars, clipped ratio", 0.02, 0.05, lambda p, lr: Lars(p, lr, trust_clip=True, **lars)
    yield "lars without momentum", 1.0, 0.05, lambda p, lr: Lars(p, lr, trust_coeff=0.02, eps=1e-6)
    yield "lion", 0.01, 0.0, lambda p, lr: Lion(p, lr)
    yield "lion, decay", 0.01, 0.05, lambda p, lr: Lion(p, lr, betas=(0.8, 0.95))


def main():
    torch.set_num_threads(1)
    fixture = {
        "torch": torch.__version__,
        "timm": timm.__version__,
        "cases": {name: train(make, lr, decay) for name, lr, decay, make in cases()},
    }
    json.dump(fixture, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
