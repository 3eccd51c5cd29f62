#!/usr/bin/env python3
"""Lets DeviceStep or ModelStep (Java) and device_step.py or model_step.py (Python) take turns and prints paired ratios.

    pairs.py ROUNDS 'JAVA COMMAND' 'PYTHON COMMAND'      (the same arguments go to both)

Each command says ready, then answers each line with a line of JSON. The ratio is that of the milliseconds
per step, Java over Python, round by round; the median counts.
"""

import json
import shlex
import statistics
import subprocess
import sys


class Partner:
    def __init__(self, command):
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ready(self):
        for line in self.process.stdout:
            if line.strip() == "ready":
                return True
        return False

    def measure(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def main(rounds, java, python):
    partners = {"java": Partner(java), "python": Partner(python)}
    for name, partner in partners.items():
        if not partner.ready():
            print(f"{name} did not start: {java if name == 'java' else python}")
            return 1
    results = {"java": [], "python": []}
    for i in range(rounds):
        order = ["java", "python"] if i % 2 == 0 else ["python", "java"]
        for name in order:
            results[name].append(partners[name].measure())
    for partner in partners.values():
        partner.close()
    ratios = sorted(a["ms"] / b["ms"] for a, b in zip(results["java"], results["python"]))
    for name, rows in results.items():
        median = sorted(rows, key=lambda row: row["ms"])[len(rows) // 2]
        print(f"  {name:6} median {json.dumps(median)}  all ms {[round(r['ms'], 3) for r in rows]}")
    print(
        "  java / python: median %.3f, from %.3f to %.3f in %d rounds"
        % (statistics.median(ratios), ratios[0], ratios[-1], rounds),
        flush=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
