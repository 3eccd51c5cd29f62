#!/usr/bin/env python3
"""Times a LeNet-5 step of Python's PyTorch with and without a CUDA graph: what launching costs.

    graph_step.py [BATCH [STEPS]]
"""

import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

batch = int(sys.argv[1]) if len(sys.argv) > 1 else 64
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc3(F.relu(self.fc2(x)))


model = LeNet5().cuda()
x = torch.randn(batch, 1, 32, 32, device="cuda")
y = torch.randint(0, 10, (batch,), device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)


def step():
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(model(x), y).backward()
    optimizer.step()


def timed(run):
    for _ in range(100):
        run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3 / steps


print("eager %.3f ms a step" % timed(step))
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(stream)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
print("graph %.3f ms a step" % timed(graph.replay))
