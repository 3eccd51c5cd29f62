#!/usr/bin/env python3
"""Lets whole runs take turns on one machine and compares their speed, whatever else the machine does meanwhile.

    in_turn.py ROUNDS NAME=COMMAND NAME=COMMAND …       (the first is what the others are compared with)

Each round starts every command, and then lets one at a time run for 0.3 s while the others are stopped (SIGSTOP), until all
have ended. A run's time is that in which it was not stopped, between its line "training …" and its line "done: …"; evaluations
and checkpoints are in it. Runs that are minutes apart differ by a third on a shared machine; these differ by one per cent.
Only for commands that are one process: a launcher would be stopped without its ranks. Slices are set by IN_TURN_SECONDS.
"""

import os
import shlex
import signal
import statistics
import subprocess
import sys
import threading
import time

SLICE = float(os.environ.get("IN_TURN_SECONDS", "0.3"))
START_APART = 1.1  # folders of runs are named by the second


class Run:
    def __init__(self, command):
        self.active = 0.0
        self.since = time.perf_counter()
        self.started = self.ended = None
        self.last = ""
        self.process = subprocess.Popen(
            shlex.split(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.stop()

    def read(self):
        for line in self.process.stdout:
            now = self.clock()
            if line.startswith("training "):
                self.started = now
            elif line.startswith("done: "):
                self.ended = now
            self.last = line.strip()

    def clock(self):
        since = self.since
        return self.active + (time.perf_counter() - since if since is not None else 0.0)

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        self.active = self.clock()
        self.since = None

    def go_on(self):
        """Runs for a slice; tells whether it has not ended."""
        self.since = time.perf_counter()
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(SLICE)
            self.active, self.since = self.clock(), None
            return False
        except subprocess.TimeoutExpired:
            self.stop()
            return True

    def seconds(self):
        self.reader.join(10)
        if self.started is None or self.ended is None:
            raise SystemExit(f"a run did not reach its end, its last line: {self.last}")
        return self.ended - self.started


def main(rounds, commands):
    seconds = {name: [] for name in commands}
    for _ in range(rounds):
        runs = {}
        try:
            for name, command in commands.items():
                runs[name] = Run(command)
                time.sleep(START_APART)
            left = list(runs.values())
            while left:
                left = [run for run in left if run.go_on()]
            for name, run in runs.items():
                seconds[name].append(run.seconds())
        finally:
            for run in runs.values():
                if run.process.poll() is None:
                    run.process.kill()
    first = seconds[next(iter(commands))]
    for name, times in seconds.items():
        speeds = sorted(a / b for a, b in zip(first, times))
        print(
            "%-12s median %.2f s; speed against the first: median %.3f, from %.3f to %.3f in %d rounds"
            % (name, statistics.median(times), statistics.median(speeds), speeds[0], speeds[-1], rounds),
            flush=True,
        )


if __name__ == "__main__":
    if len(sys.argv) < 4 or not sys.argv[1].isdigit() or not all("=" in word for word in sys.argv[2:]):
        sys.exit(__doc__)
    main(int(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))
