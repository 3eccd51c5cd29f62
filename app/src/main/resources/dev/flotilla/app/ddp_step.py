"""Times steps of PyTorch's DistributedDataParallel over Gloo, one thread per rank.

    RANK=… WORLD_SIZE=… MASTER_ADDR=… MASTER_PORT=… python ddp_step.py resnet18|lenet5 BATCH ROUNDS

Rank 0 writes the milliseconds of each step to a JSON file beside this one. Needs torch, and
torchvision for resnet18.
"""

import json
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
name, batch, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if name == "resnet18":
    import torchvision

    model = torchvision.models.resnet18(num_classes=10)
    model.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    model.maxpool = nn.Identity()
    inputs = torch.randn(batch, 3, 32, 32)
else:
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )
    inputs = torch.randn(batch, 1, 32, 32)
targets = torch.randint(0, 10, (batch,))
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
times = []
for step in range(rounds + 3):
    dist.barrier()
    start = time.perf_counter()
    optimizer.zero_grad()
    F.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
    if step >= 3:
        times.append((time.perf_counter() - start) * 1e3)
if dist.get_rank() == 0:
    sent = sum(p.numel() for p in model.parameters()) * 4 * 2 * (dist.get_world_size() - 1)
    with open(__file__ + ".json", "w") as file:
        json.dump({"ms": times, "bytes_per_step": sent / dist.get_world_size()}, file)
dist.barrier()
dist.destroy_process_group()
