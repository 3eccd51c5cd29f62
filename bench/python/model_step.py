#!/usr/bin/env python3
"""Times training steps of Python's PyTorch, as bench/run ModelStep does for Flotilla, in turn with it:

    bench/python/pairs.py 9 "bench/run ModelStep lenet5 200" "python3 bench/python/model_step.py lenet5 200"

One thread, SGD with momentum, one batch used again and again; answers each line with the CPU milliseconds
of a step. Needs torch and torchvision.
"""

import os
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(
    0, os.path.join(os.path.dirname(__file__), "..", "..", "zoo", "src", "test", "python")
)
import references  # noqa: E402

torch.set_num_threads(1)
name, steps = sys.argv[1], int(sys.argv[2])
if name == "lenet5":
    model, inputs = references.LeNet5(), torch.randn(64, 1, 32, 32)
else:
    model, inputs = references.resnet_cifar(), torch.randn(16, 3, 32, 32)
targets = torch.randint(0, 10, (len(inputs),))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
model.train()


def step():
    optimizer.zero_grad()
    F.cross_entropy(model(inputs), targets).backward()
    optimizer.step()


def cpu_millis():
    start = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - start) * 1e3 / steps


cpu_millis()
print("ready", flush=True)
for _ in sys.stdin:
    print('{"ms": %.4f}' % cpu_millis(), flush=True)
