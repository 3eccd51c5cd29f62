#!/usr/bin/env python3
"""Times training steps of Python's PyTorch, as bench/run ModelStep does for Flotilla, in turn with it:

    bench/python/pairs.py 9 "bench/run ModelStep lenet5 200 2" "python3 bench/python/model_step.py lenet5 200 2"

Model (lenet5, resnet18, encoder, bert-tiny, encoder24), steps per line, threads. One batch is used again and again;
each line is answered with the milliseconds of a step, on the clock and of the processor. Needs torch alone.

predict1 and predict16 are forward passes of resnet18 in inference mode, a batch of 1 or 16, beside bench/run PredictTime;
a fourth argument is the device.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

name, steps, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
torch.set_num_threads(threads)
torch.manual_seed(0)


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


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    """The variant for CIFAR: a first convolution of 3 x 3 and no pooling behind it."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
        widths = [64, 64, 128, 256, 512]
        blocks = []
        for i in range(1, 5):
            blocks += [Block(widths[i - 1], widths[i], 1 if i == 1 else 2), Block(widths[i], widths[i], 1)]
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(512, 10)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x):
        n, length, width = x.shape
        split = lambda t: t.view(n, length, self.heads, width // self.heads).transpose(1, 2)
        y = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)), dropout_p=0.1)
        y = y.transpose(1, 2).reshape(n, length, width)
        x = self.norm1(x + F.dropout(self.out(y), 0.1))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), 0.1))


class Bert(nn.Module):
    """Pre-training as Google published it; only masked places go through the projection to the vocabulary."""

    def __init__(self, vocabulary, width, layers, heads, inner, length):
        super().__init__()
        self.words, self.places, self.types = (nn.Embedding(n, width) for n in (vocabulary, length, 2))
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.Sequential(*(Layer(width, heads, inner) for _ in range(layers)))
        self.transform, self.head_norm = nn.Linear(width, width), nn.LayerNorm(width, 1e-12)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.pooler, self.follows = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, tokens, types, masked):
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]] + self.types(types)
        x = self.layers(F.dropout(self.norm(x), 0.1))
        head = self.head_norm(F.gelu(self.transform(x.flatten(0, 1).index_select(0, masked))))
        return F.linear(head, self.words.weight, self.bias), self.follows(torch.tanh(self.pooler(x[:, 0])))


def images(model, shape):
    inputs, targets = torch.randn(*shape), torch.randint(0, 10, (shape[0],))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    return model, optimizer, lambda: F.cross_entropy(model(inputs), targets)


def bert(vocabulary, width, layers, heads, inner, batch, length):
    model = Bert(vocabulary, width, layers, heads, inner, length)
    tokens = torch.randint(5, vocabulary, (batch, length))
    types = (torch.arange(length) >= length // 2).long().expand(batch, length)
    masked = torch.cat([i * length + torch.randperm(length)[: round(0.15 * length)] for i in range(batch)])
    targets, follows = tokens.flatten()[masked], torch.randint(0, 2, (batch,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def loss():
        words, sentences = model(tokens, types, masked)
        return F.cross_entropy(words, targets) + F.cross_entropy(sentences, follows)

    return model, optimizer, loss


def predict(batch):
    device = sys.argv[4] if len(sys.argv) > 4 else "cpu"
    model, inputs = ResNet18().to(device).eval(), torch.randn(batch, 3, 32, 32)

    def run():
        with torch.inference_mode():
            return model(inputs.to(device)).cpu()

    return run


def training(name):
    model, optimizer, loss = {
        "lenet5": lambda: images(LeNet5(), (64, 1, 32, 32)),
        "resnet18": lambda: images(ResNet18(), (16, 3, 32, 32)),
        "encoder": lambda: bert(8192, 512, 6, 8, 2048, 8, 128),
        "bert-tiny": lambda: bert(8192, 128, 2, 2, 512, 8, 128),
        "encoder24": lambda: bert(30522, 1024, 24, 16, 4096, 2, 512),
    }[name]()
    model.train()

    def run():
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return run


step = predict(int(name.removeprefix("predict"))) if name.startswith("predict") else training(name)


def millis():
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(steps):
        step()
    return dict(
        ms=round((time.perf_counter() - wall) * 1e3 / steps, 4),
        cpu_ms=round((time.process_time() - cpu) * 1e3 / steps, 4),
    )


millis()
print("ready", flush=True)
for _ in sys.stdin:
    print(json.dumps(millis()), flush=True)
