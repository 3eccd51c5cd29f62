#!/usr/bin/env python3
"""Writes what PyTorch reaches on breast-cancer.csv, for TablesLearnAsInPythonTests.

    python3 breast_cancer.py ../../../breast-cancer.csv FIXTURE.json

Needs torch; runs on the CPU in about half a minute. Rows to test with are drawn, and columns
standardized, as data: {name: csv} does: by the numbers of splitmix64, and by mean and deviation of
the training rows.
"""

import csv
import json
import sys

import torch

MASK = (1 << 64) - 1
SETTINGS = dict(
    test_fraction=0.3,
    split_seed=0,
    batch=32,
    epochs=20,
    lr=0.01,
    weight_decay=0.01,
    hidden=16,
    seeds=[1, 2, 3, 4, 5],
)


def drawn(seed, count):
    """Returns the signed numbers of Java's SplittableRandom."""
    numbers = []
    state = seed & MASK
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        numbers.append(z - (1 << 64) if z >> 63 else z)
    return numbers


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    classes = sorted({row[-1] for row in rows})
    features = torch.tensor([[float(cell) for cell in row[:-1]] for row in rows])
    return features, torch.tensor([classes.index(row[-1]) for row in rows])


def split(features, labels):
    count = round(len(labels) * SETTINGS["test_fraction"])
    numbers = drawn(SETTINGS["split_seed"], len(labels))
    test = torch.tensor([n <= sorted(numbers)[count - 1] for n in numbers])
    mean = features[~test].double().mean(0)
    deviation = features[~test].double().std(0, unbiased=False)
    scaled = ((features.double() - mean) / deviation).float()
    return scaled[~test], labels[~test], scaled[test], labels[test]


def accuracy(hidden, seed, data):
    train, train_labels, test, test_labels = data
    torch.manual_seed(seed)
    widths = [train.shape[1]] + hidden + [2]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=SETTINGS["lr"], weight_decay=SETTINGS["weight_decay"]
    )
    for _ in range(SETTINGS["epochs"]):
        for batch in torch.randperm(len(train)).split(SETTINGS["batch"]):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(train[batch]), train_labels[batch])
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return (model(test).argmax(1) == test_labels).double().mean().item()


def main(table, fixture):
    torch.set_num_threads(1)
    data = split(*read(table))
    result = {"torch": torch.__version__, "settings": SETTINGS, "test_rows": len(data[3])}
    for name, hidden in (("logistic", []), ("mlp", [SETTINGS["hidden"]])):
        result[name] = [accuracy(hidden, seed, data) for seed in SETTINGS["seeds"]]
        print(name, result[name], flush=True)
    with open(fixture, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
