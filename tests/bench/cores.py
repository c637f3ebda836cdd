"""How well a batch uses the cores: its throughput against what plain processes reach side by side.

Run by hand: python tests/bench/cores.py. Containers often give less than they show, so plain processes are measured
beside it; rounds alternate, and only ratios of one run mean something.
"""

import os
import statistics
import subprocess
import sys
import time

import numpy as np

import kronbot
from kronbot.compute import sharing
from kronbot.compute.native.policy import native

STATES, ROUNDS = 300_000, 7
# How the function is evaluated, and the setting by which threads are shared then.
WAYS = {"on": "THREAD", "off": "SPELLS"}
ALONE = """
import sys, time
import numpy as np
import kronbot
from kronbot.compute import sharing
from kronbot.compute.native.policy import native
sharing.THREAD = sharing.SPELLS = float("inf")
robot = kronbot.load("puma560")
rows = np.random.default_rng(0).uniform(-2, 2, (int(sys.argv[1]), 6))
with native(sys.argv[2]):
    robot.hessian(rows[:10])
    print("ready", flush=True)
    while sys.stdin.readline():
        start = time.perf_counter()
        robot.hessian(rows)
        print(time.perf_counter() - start, flush=True)
"""


def main():
    for choice in WAYS:
        measure(choice)


def measure(choice):
    cores = len(os.sched_getaffinity(0))
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", ALONE, str(STATES // cores), choice]
    plain = [subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) for _ in range(cores)]
    for each in plain:
        each.stdout.readline()
    robot = kronbot.load("puma560")
    rows = np.random.default_rng(0).uniform(-2, 2, (STATES, 6))
    shares, speedups = [], []
    worth = getattr(sharing, WAYS[choice])
    with native(choice):
        robot.hessian(rows)
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for each in plain:
                each.stdin.write("\n")
                each.stdin.flush()
            for each in plain:
                each.stdout.readline()
            side_by_side = time.perf_counter() - start
            start = time.perf_counter()
            robot.hessian(rows)
            shared = time.perf_counter() - start
            setattr(sharing, WAYS[choice], float("inf"))
            start = time.perf_counter()
            robot.hessian(rows)
            alone = time.perf_counter() - start
            setattr(sharing, WAYS[choice], worth)
            shares.append(side_by_side / shared)
            speedups.append((alone / side_by_side, alone / shared))
    for each in plain:
        each.stdin.close()
        each.wait()
    print(f"{cores} cores, native {choice}, {STATES} Hessians of puma560, {ROUNDS} rounds, medians")
    print(f"plain processes side by side are {statistics.median(a for a, _ in speedups):.2f} times as fast as one")
    print(f"a batch is {statistics.median(b for _, b in speedups):.2f} times as fast as one process")
    print(f"that is {100 * statistics.median(shares):.0f} % of the plain processes")


if __name__ == "__main__":
    main()
