#!/usr/bin/env python3
"""Writes what PyTorch's reference models compute, for ReferenceTests.

    python3 references.py FOLDER            writes FOLDER/<case>.json, a few KB each
    python3 references.py --export FOLDER   writes a tiny BERT's weights as Python saves them
    python3 references.py --check FOLDER    loads what ExportMain of these tests wrote to FOLDER

Needs torch, torchvision, transformers and safetensors; runs on the CPU in about a minute.

Weights and inputs are no random numbers but a hash of name and index, the same in Java
(HashedValues): with h = fnv1a64(name), u(i) = (splitmix64(h + i) >> 40) / 2^24 - 0.5.
All numbers are computed in float64, so that a fixture is the truth to which float32 comes close.
"""

import copy
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1
FIRST_VALUES = 16


def fnv1a(name):
    hash_ = 0xCBF29CE484222325
    for char in name:
        hash_ = ((hash_ ^ ord(char)) * 0x100000001B3) & MASK
    return hash_


def uniform(name, count):
    """Returns numbers in [-0.5, 0.5), exact in float32."""
    with np.errstate(over="ignore"):
        z = np.uint64(fnv1a(name)) + np.arange(count, dtype=np.uint64)
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2.0**24 - 0.5


def scale_of(name, shape):
    """Returns (centre, width) so that activations stay in range."""
    if name.endswith("running_var"):
        return 1.0, 0.5
    if len(shape) == 1:
        is_scale = name.endswith("weight")
        return (1.0, 0.5) if is_scale else (0.0, 0.2)
    if "embeddings" in name:
        return 0.0, 1.0
    fan_in = int(np.prod(shape[1:]))
    return 0.0, float(np.float32(2.0 * (3.0 / fan_in) ** 0.5))


def hashed(name, shape):
    centre, width = scale_of(name, shape)
    values = uniform(name, int(np.prod(shape))) * np.float64(width) + centre
    # Parameters are float32, as a file would hold them.
    return torch.from_numpy(values.astype(np.float32).astype(np.float64).reshape(shape))


def fill(model):
    with torch.no_grad():
        for name, tensor in model.state_dict(keep_vars=True).items():
            if tensor.dtype.is_floating_point:
                tensor.copy_(hashed(canonical(name), tuple(tensor.shape)))
            elif name.endswith("num_batches_tracked"):
                tensor.fill_(7)
    return model


def canonical(name):
    """A tied tensor has the name of the place that it is published under."""
    return {
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }.get(name, name)


def whole_numbers(name, count, bound):
    return [int((u + 0.5) * bound) for u in uniform(name, count)]


def values(tensor):
    flat = tensor.detach().reshape(-1)
    return {
        "shape": list(tensor.shape),
        "first": [float(x) for x in flat[:FIRST_VALUES]],
        "norm": float(flat.norm()),
    }


def norms(model):
    found = {}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            found[canonical(name)] = float(parameter.grad.norm())
    return dict(sorted(found.items()))


def statistics(model):
    return {
        name: float(tensor.double().norm())
        for name, tensor in sorted(model.state_dict().items())
        if name.endswith(("running_mean", "running_var", "num_batches_tracked"))
    }


def names(model):
    kept = {}
    for name, tensor in model.state_dict().items():
        kept[canonical(name)] = list(tensor.shape)
    return dict(sorted(kept.items()))


def images(model, side, samples, classes):
    fill(model).double()
    inputs = hashed_input("input", (samples, 3, side, side))
    targets = torch.tensor(whole_numbers("target", samples, classes))
    model.eval()
    with torch.no_grad():
        evaluated = model(inputs)
    model.train()
    outputs = model(inputs)
    loss = F.cross_entropy(outputs, targets, reduction="sum")
    loss.backward()
    return {
        "side": side,
        "samples": samples,
        "classes": classes,
        "evaluated": values(evaluated),
        "outputs": values(outputs),
        "loss_sum": loss.item(),
        "count": samples,
        "gradient_norms": norms(model),
        "statistics": statistics(model),
        "names": names(model),
    }


def hashed_input(name, shape):
    return torch.from_numpy(uniform(name, int(np.prod(shape))).reshape(shape) * 4.0)


def resnet(block, layers, classes, **options):
    from torchvision.models.resnet import ResNet

    return ResNet(block, layers, num_classes=classes, **options)


def resnet_cifar(groups=0):
    from torchvision.models.resnet import BasicBlock

    options = {}
    if groups:
        options["norm_layer"] = lambda channels: torch.nn.GroupNorm(groups, channels)
    model = resnet(BasicBlock, [2, 2, 2, 2], 10, **options)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, stride=1, padding=1, bias=False)
    model.maxpool = torch.nn.Identity()
    return model


def vgg(batch_norm, width, hidden, classes):
    from torchvision.models.vgg import VGG, make_layers

    widths = []
    for count, times in zip((2, 2, 3, 3, 3), (1, 2, 4, 8, 8)):
        widths += [width * times] * count + ["M"]
    # Dropout would draw from a generator that Java does not share.
    model = VGG(make_layers(widths, batch_norm), num_classes=2, init_weights=False, dropout=0.0)
    model.classifier = torch.nn.Sequential(
        torch.nn.Linear(width * 8 * 49, hidden),
        torch.nn.ReLU(True),
        torch.nn.Dropout(0.0),
        torch.nn.Linear(hidden, hidden),
        torch.nn.ReLU(True),
        torch.nn.Dropout(0.0),
        torch.nn.Linear(hidden, classes),
    )
    return model


BERT = dict(
    vocab_size=120,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=24,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)


def bert_model(kind, classes=0):
    import transformers

    extra = {"num_labels": classes} if classes else {}
    config = transformers.BertConfig(**BERT, **extra)
    config._attn_implementation = "sdpa"
    return getattr(transformers, kind)(config)


def text(samples=3, length=12, most=3):
    """Sequences of unequal length, with masked places that differ in number."""
    vocabulary = BERT["vocab_size"]
    tokens = torch.tensor(whole_numbers("tokens", samples * length, vocabulary)).reshape(
        samples, length
    )
    lengths = [length - 2 * i for i in range(samples)]
    attention = torch.tensor([[int(i < n) for i in range(length)] for n in lengths])
    tokens = tokens * attention
    types = torch.tensor([[int(5 <= i < n) for i in range(length)] for n in lengths])
    positions = torch.arange(length).expand(samples, length).contiguous()
    places, labels = [], []
    drawn = whole_numbers("labels", samples * most, vocabulary)
    for i in range(samples):
        count = 1 + i % most
        places.append([1 + 2 * j if j < count else -1 for j in range(most)])
        labels.append([drawn[i * most + j] if j < count else -100 for j in range(most)])
    following = [i % 2 for i in range(samples)]
    return tokens, types, positions, attention, torch.tensor(places), labels, following


def bert_pretraining(model=None):
    model = fill(model or bert_model("BertForPreTraining")).double()
    tokens, types, positions, attention, places, labels, following = text()
    whole = torch.full(tokens.shape, -100)
    for i, row in enumerate(places.tolist()):
        for place, label in zip(row, labels[i]):
            if place >= 0:
                whole[i, place] = label
    model.train()
    result = model(
        input_ids=tokens,
        token_type_ids=types,
        position_ids=positions,
        attention_mask=attention,
        labels=whole,
        next_sentence_label=torch.tensor(following),
    )
    result.loss.backward()
    masked = whole >= 0
    return {
        "sizes": BERT,
        "loss": result.loss.item(),
        "masked": int(masked.sum()),
        "samples": len(following),
        "outputs": values(result.prediction_logits[masked]),
        "sentences": values(result.seq_relationship_logits),
        "gradient_norms": norms(model),
        "names": names(model),
    }


def bert_classification():
    model = fill(bert_model("BertForSequenceClassification", 3)).double()
    tokens, types, positions, attention, _, _, following = text()
    model.train()
    result = model(
        input_ids=tokens, token_type_ids=types, position_ids=positions, attention_mask=attention
    )
    loss = F.cross_entropy(result.logits, torch.tensor(following), reduction="sum")
    loss.backward()
    return {
        "sizes": BERT,
        "loss_sum": loss.item(),
        "outputs": values(result.logits),
        "gradient_norms": norms(model),
        "names": names(model),
    }


class LeNet5(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 6, 5)
        self.conv2 = torch.nn.Conv2d(6, 16, 5)
        self.fc1 = torch.nn.Linear(400, 120)
        self.fc2 = torch.nn.Linear(120, 84)
        self.fc3 = torch.nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x[:, :1])), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc3(F.relu(self.fc2(x)))


def cases():
    from torchvision.models.resnet import BasicBlock, Bottleneck

    return {
        "lenet5": lambda: images(LeNet5(), 32, 3, 10),
        "resnet18": lambda: images(resnet(BasicBlock, [2, 2, 2, 2], 1000), 64, 2, 1000),
        "resnet18-cifar": lambda: images(resnet_cifar(), 32, 3, 10),
        "resnet18-group": lambda: images(resnet_cifar(groups=32), 32, 2, 10),
        "resnet50": lambda: images(resnet(Bottleneck, [3, 4, 6, 3], 1000), 64, 6, 1000),
        "vgg16": lambda: images(vgg(False, 4, 24, 10), 64, 3, 10),
        "vgg16_bn": lambda: images(vgg(True, 4, 24, 10), 64, 3, 10),
        "bert": bert_pretraining,
        "bert-classification": bert_classification,
    }


def write(folder):
    import torchvision
    import transformers

    versions = {
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "transformers": transformers.__version__,
    }
    os.makedirs(folder, exist_ok=True)
    for name, compute in cases().items():
        fixture = {"case": name, "versions": versions, **compute()}
        with open(os.path.join(folder, name + ".json"), "w") as file:
            json.dump(fixture, file, separators=(",", ":"))
            file.write("\n")
        print(name, "written", flush=True)


TINY = dict(
    BERT,
    vocab_size=30,
    hidden_size=8,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=12,
    max_position_embeddings=10,
)


def export(folder):
    """Saves hashed weights as Python's users do, for Flotilla to load."""
    import transformers

    os.makedirs(folder, exist_ok=True)
    model = fill(transformers.BertForPreTraining(transformers.BertConfig(**TINY)))
    model.save_pretrained(os.path.join(folder, "bert"), max_shard_size="4KB")
    torch.save(model.state_dict(), os.path.join(folder, "bert.pth"))
    print("exported", flush=True)


def check(folder):
    """Loads FOLDER/resnet50/model.safetensors and FOLDER/bert, and compares them with the hash."""
    from safetensors.torch import load_model
    from torchvision.models.resnet import Bottleneck
    import transformers

    loaded = resnet(Bottleneck, [3, 4, 6, 3], 1000)
    load_model(loaded, os.path.join(folder, "resnet50", "model.safetensors"), strict=True)
    require_hashed(loaded)
    compare("resnet50", images(loaded, 64, 6, 1000), os.path.join(folder, "resnet50.json"))
    print("resnet50: strict load, every tensor and the outputs equal", flush=True)
    bert, report = transformers.BertForPreTraining.from_pretrained(
        os.path.join(folder, "bert"), output_loading_info=True
    )
    wrong = {key: found for key, found in report.items() if found}
    if wrong:
        raise SystemExit("bert: %s" % wrong)
    require_hashed(bert)
    compare("bert", bert_pretraining(bert), os.path.join(folder, "bert.json"))
    print("bert: no missing, unexpected or mismatched key, outputs equal", flush=True)


def compare(name, computed, file):
    """Compares outputs with those that Flotilla computed from the same weights."""
    with open(file) as opened:
        flotilla = json.load(opened)
    for key, values_ in flotilla.items():
        ours = np.array(computed[key]["first"])
        difference = np.abs(ours - np.array(values_)).max() / np.abs(ours).max()
        print(name, key, "largest relative difference %.1e" % difference, flush=True)
        if difference > 1e-4:
            raise SystemExit("%s: %s differs" % (name, key))


def require_hashed(model):
    wanted = fill(copy.deepcopy(model))
    for name, tensor in model.state_dict().items():
        if not torch.equal(tensor, wanted.state_dict()[name]):
            raise SystemExit(name + " differs from what was written")


def main(arguments):
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 2))
    if len(arguments) == 2 and arguments[0] == "--export":
        export(arguments[1])
    elif len(arguments) == 2 and arguments[0] == "--check":
        check(arguments[1])
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        write(arguments[0])
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
