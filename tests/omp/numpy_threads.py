# SPDX-License-Identifier: LGPL-2.1-or-later
"""Multiplies matrices at each line on stdin, and says how many threads have worked at it."""
import os
import sys

import numpy

N, TIMES = 700, 12
WORKED_NSEC = 500_000


def work():
    """Nanoseconds on a CPU, of each thread."""
    used = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as f:
            used[thread] = int(f.read().split()[0])
    return used


def multiply(a):
    before = work()
    for _ in range(TIMES):
        a @ a
    return sum(used - before.get(thread, 0) > WORKED_NSEC for thread, used in work().items())


def main():
    a = numpy.ones((N, N))
    multiply(a)
    for line in sys.stdin:
        print(multiply(a) if line.strip() == "multiply" else os.getpid(), flush=True)


main()
