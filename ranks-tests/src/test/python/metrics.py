#!/usr/bin/env python3
"""Writes the fixtures of MetricTests: data, and what scikit-learn's metrics give for it in float64.

    python3 metrics.py > ../resources/dev/flotilla/metric/metrics.json

Values are computed by the formulas that scikit-learn documents (precision_recall_fscore_support with
zero_division=0, confusion_matrix, roc_auc_score with multi_class="ovr", r2_score with
multioutput="uniform_average"), with sums over pairs and samples instead of the ways that either library
takes. Where scikit-learn is installed, they are compared with it too.
"""
import json
import math
import random
import sys
from fractions import Fraction


def softmax(row):
    largest = max(row)
    shares = [math.exp(x - largest) for x in row]
    return [x / math.fsum(shares) for x in shares]


def best(row, k):
    return sorted(range(len(row)), key=lambda i: -row[i])[:k]


def mean(values):
    return math.fsum(values) / len(values)


def counts(logits, right):
    guesses = [best(row, 1)[0] for row in logits]
    labels = sorted(set(guesses) | set(right))
    pairs = list(zip(guesses, right))
    return [
        (sum(g == c and r == c for g, r in pairs), sum(g == c for g in guesses), sum(r == c for r in right))
        for c in labels
    ]


def ratio(part, whole):
    return Fraction(part, whole) if whole else Fraction(0)


def averaged(score, table):
    macro = sum(score(*row) for row in table) / len(table)
    micro = score(*(sum(column) for column in zip(*table)))
    return float(macro), float(micro)


def area(scores, positive):
    """The fraction of pairs of a positive and a negative sample that are in order, equal ones half."""
    wins = Fraction(0)
    ups = [s for s, p in zip(scores, positive) if p]
    downs = [s for s, p in zip(scores, positive) if not p]
    for up in ups:
        for down in downs:
            wins += 1 if up > down else Fraction(1, 2) if up == down else 0
    return wins / (len(ups) * len(downs))


def auroc(logits, right):
    rows = [softmax(row) for row in logits]
    classes = len(rows[0])
    areas = [area([row[c] for row in rows], [r == c for r in right]) for c in range(classes)]
    return float(areas[1] if classes == 2 else sum(areas) / classes)


def classification(logits, right, with_auroc):
    classes = len(logits[0])
    table = counts(logits, right)
    values = {
        "accuracy": mean([float(r in best(row, 1)) for row, r in zip(logits, right)]),
        "accuracy_top2": mean([float(r in best(row, 2)) for row, r in zip(logits, right)]),
        "perplexity": math.exp(mean([-math.log(softmax(row)[r]) for row, r in zip(logits, right)])),
    }
    scores = {
        "precision": lambda tp, guessed, actual: ratio(tp, guessed),
        "recall": lambda tp, guessed, actual: ratio(tp, actual),
        "f1": lambda tp, guessed, actual: ratio(2 * tp, guessed + actual),
    }
    for name, score in scores.items():
        values[name], values[name + "_micro"] = averaged(score, table)
    if with_auroc:
        values["auroc"] = auroc(logits, right)
    matrix = [[0] * classes for _ in range(classes)]
    for row, r in zip(logits, right):
        matrix[r][best(row, 1)[0]] += 1
    return {"outputs": logits, "targets": right, "values": values, "confusion_matrix": matrix}


def regression(given, right):
    columns = range(len(given[0]))
    errors = [[y - z for z, y in zip(*rows)] for rows in zip(given, right)]
    r2 = []
    for c in columns:
        middle = mean([row[c] for row in right])
        residual = math.fsum(row[c] ** 2 for row in errors)
        r2.append(1 - residual / math.fsum((row[c] - middle) ** 2 for row in right))
    flat = [e for row in errors for e in row]
    values = {"mse": mean([e * e for e in flat]), "mae": mean([abs(e) for e in flat]), "r2": mean(r2)}
    return {"outputs": given, "targets": right, "values": values}


def made_up(seed, samples, classes, used, guessable):
    draw = random.Random(seed)
    right = [draw.randrange(used) for _ in range(samples)]
    logits = []
    for r in right:
        row = [draw.gauss(0, 1) if c < guessable else -9.0 - c for c in range(classes)]
        row[r] += 1
        logits.append(row)
    for i in range(0, samples - 10, 10):  # equal probabilities, of equal and of other classes
        logits[i + 9] = list(logits[i])
    return logits, right


def compared(fixtures):
    try:
        from sklearn import metrics as sk
    except ImportError:
        print("scikit-learn is not installed: values are by its formulas alone", file=sys.stderr)
        return
    for name in ("classes", "two", "rare"):
        logits, right, values = (fixtures[name][key] for key in ("outputs", "targets", "values"))
        guesses = [best(row, 1)[0] for row in logits]
        for average, suffix in (("macro", ""), ("micro", "_micro")):
            for score, function in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)):
                expected = function(right, guesses, average=average, zero_division=0)
                assert math.isclose(values[score + suffix], expected, rel_tol=1e-12), (name, score)
    rows = [softmax(row) for row in fixtures["classes"]["outputs"]]
    expected = sk.roc_auc_score(fixtures["classes"]["targets"], rows, multi_class="ovr")
    assert math.isclose(fixtures["classes"]["values"]["auroc"], expected, rel_tol=1e-12)
    expected = sk.r2_score(fixtures["numbers"]["targets"], fixtures["numbers"]["outputs"])
    assert math.isclose(fixtures["numbers"]["values"]["r2"], expected, rel_tol=1e-9)


def main():
    draw = random.Random(7)
    right = [[1000 + draw.gauss(0, 1), draw.gauss(0, 3)] for _ in range(101)]
    given = [[y + draw.gauss(0, 0.5) for y in row] for row in right]
    fixtures = {
        "classes": classification(*made_up(1, 101, 4, 4, 4), with_auroc=True),
        "two": classification(*made_up(2, 53, 2, 2, 2), with_auroc=True),
        # Class 4 is guessed and never right, class 5 is neither.
        "rare": classification(*made_up(3, 40, 6, 4, 5), with_auroc=False),
        "numbers": regression(given, right),
    }
    compared(fixtures)
    json.dump(fixtures, sys.stdout)
    print()


main()
