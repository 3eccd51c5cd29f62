#!/usr/bin/env python3
"""Times training steps of Python's PyTorch on a GPU, as DeviceStep does for Flotilla.

    device_step.py lenet5|encoder|bert-large BATCH STEPS [bf16] [recompute] [eager] [memory=32GiB]

The models are transformers' BertForSequenceClassification and BertForPreTraining with AdamW(fused), and
a plain LeNet-5 with SGD(fused). Says ready, then answers every line of standard input with a line of
JSON. TF32 is off; attention is SDPA unless eager is asked for.
"""

import json
import os
import sys
import time

os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = sys.argv[4:]
device = torch.device("cpu" if "cpu" in options else "cuda")
bf16 = "bf16" in options
LENGTH = 512
torch.manual_seed(1)
for option in options:
    if option.startswith("memory="):
        gib = float(option[len("memory=") :].removesuffix("GiB"))
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(gib * 2**30 / total)


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


def lenet():
    model = LeNet5().to(device).train()
    x = torch.randn(batch, 1, 32, 32, device=device)
    y = torch.randint(0, 10, (batch,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    return lambda: F.cross_entropy(model(x), y), optimizer


def bert():
    from transformers import BertConfig, BertForPreTraining, BertForSequenceClassification

    config = BertConfig(
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        attn_implementation="eager" if "eager" in options else "sdpa",
    )
    kind = BertForSequenceClassification if name == "encoder" else BertForPreTraining
    model = kind(config).to(device).train()
    if "recompute" in options:
        model.gradient_checkpointing_enable()
    tokens = torch.randint(5, 30522, (batch, LENGTH), device=device)
    types = torch.zeros_like(tokens)
    types[:, LENGTH // 2 :] = 1
    if name == "encoder":
        given = dict(labels=torch.randint(0, 2, (batch,), device=device))
    else:
        labels = torch.full_like(tokens, -100)
        masked = torch.rand(batch, LENGTH, device=device) < 0.15
        labels[masked] = tokens[masked]
        given = dict(
            labels=labels,
            next_sentence_label=torch.randint(0, 2, (batch,), device=device),
        )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    return lambda: model(input_ids=tokens, token_type_ids=types, **given).loss, optimizer


loss, optimizer = lenet() if name == "lenet5" else bert()


def step():
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        value = loss()
    value.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def wait():
    if device.type == "cuda":
        torch.cuda.synchronize()


for _ in range(max(3, steps // 2)):
    step()
wait()
print("ready", flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    for _ in range(steps):
        step()
    launched = time.perf_counter() - start
    wait()
    seconds = time.perf_counter() - start
    stats = dict(ms=seconds * 1e3 / steps, launch_ms=launched * 1e3 / steps, per_s=batch * steps / seconds)
    if device.type == "cuda":
        stats["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
        stats["reserved_gib"] = torch.cuda.max_memory_reserved() / 2**30
    print(json.dumps({k: round(v, 4) for k, v in stats.items()}), flush=True)
