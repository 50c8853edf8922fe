# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures at quiet points, and what can be said about them: memory, descriptors, what was left."""
import collections
import math
import os
import re
import statistics
import time

from harness import comm
from pathdriver import rss_kib, text

ENOUGH = 8      # points for a slope
Z = 1.96        # of a 95 % interval
GOAL = 1.0      # % per hour
SETTLE_SEC = 10


def theil_sen(points):
    """(slope, low, high): the median of the slopes of all pairs, and Sen's 95 % interval."""
    slopes = sorted((y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points)
                    for x2, y2 in points[i + 1:])
    n = len(points)
    c = Z * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low, high = math.floor((len(slopes) - c) / 2), math.ceil((len(slopes) + c) / 2)
    return statistics.median(slopes), slopes[max(low, 0)], slopes[min(high, len(slopes) - 1)]


def slope_per_hour(points):
    """In % of the level; points are (seconds, KiB)."""
    level = statistics.median(y for _, y in points)
    return [100 * 3600 * s / level for s in theil_sen(points)]


def descriptors(pid):
    """What is open, each with its kind: {fd: target}."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            pass
    return found


def patiently(condition, seconds):
    """Waits for it, looking not more often than looking should cost; whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Point:
    """One look while nothing but the lasting jobs lives."""

    def __init__(self, g, shims, began):
        self.pids = {"daemon": g.daemon.pid, "writer": g.store_pid(), "reader": g.reader_pid()}
        self.time = time.monotonic() - began
        self.open = {name: descriptors(pid) for name, pid in self.pids.items()}
        self.rss = self.memory("VmRSS", shims)
        self.own = self.memory("RssAnon", shims)
        self.disk_kib = sum(os.stat(f"{g.state}/{name}").st_size for name in os.listdir(g.state)
                            if name.startswith("schedgov.db")) // 1024

    def memory(self, field, shims):
        kib = {name: rss_kib(pid, field) for name, pid in self.pids.items()}
        return kib | {"shims": sum(rss_kib(pid, field) for pid in shims)}

    def fds(self):
        return {name: len(fds) for name, fds in self.open.items()}

    def line(self):
        return "  ".join(f"{name} {kib} ({self.own[name]}) KiB" for name, kib in self.rss.items())

    def document(self):
        return {"seconds": round(self.time, 1), "rss_kib": self.rss, "rss_anon_kib": self.own,
                "fds": self.fds(),
                "database_kib": self.disk_kib, "pids": self.pids}


def settled_point(g, shims, began, last):
    """As soon as the descriptors are those of the last point of this life, and for the first one of
    a life when they have stayed the same for a while; else, after some time, what there is."""
    same, point = 0, None

    def settled():
        nonlocal same, point
        before, point = point, Point(g, shims, began)
        if last is not None and last.pids == point.pids:
            return last.fds() == point.fds()
        same = same + 1 if before and before.fds() == point.fds() else 0
        return same >= 10
    patiently(settled, SETTLE_SEC)
    return point


def changed_descriptors(points):
    """Complaints; the first point of a life may differ, as what is made once isn't there yet. A daemon
    whose writer died has begun another one, under its pid: jobs' gates are closed."""
    wrong, seen = [], {}
    for point in points:
        for name, pid in point.pids.items():
            known = seen.setdefault((name, pid, point.pids["writer"]), [])
            known.append(point)
            if len(known) > 2 and len(point.open[name]) != len(known[1].open[name]):
                fresh = list((collections.Counter(point.open[name].values()) -
                              collections.Counter(known[1].open[name].values())).elements())
                wrong.append(f"{name}: {len(known[1].open[name])} descriptors at {known[1].time:.0f} s, "
                             f"{len(point.open[name])} at {point.time:.0f} s; new: {fresh[:5]}")
    return wrong


def numbered(names):
    """Numbers of the jobs by whose name files, directories or groups begin."""
    return {int(m[1]) for m in (re.match(r"(?:schedgov-)?(\d+)-", n) for n in names) if m}


def in_group_of(pid, lasting):
    try:
        return bool(numbered(re.findall(r"schedgov-\d+-", text(f"/proc/{pid}/cgroup"))) & lasting)
    except (FileNotFoundError, ProcessLookupError):
        return True


def leftovers(g, lasting, known):
    """What isn't of the lasting jobs, nor in the history as far as it may stay: {kind: [what]}."""
    own = {g.daemon.pid, g.store_pid(), g.reader_pid()}
    found = {
        "control groups": numbered(map(os.path.basename, g.groups())) - lasting,
        "attempts": numbered(g.attempts()) - lasting,
        "allocations": numbered(os.listdir(f"{g.state}/allocation")) - lasting,
        "processes": {f"{pid} {command}" for pid, command in g.processes().items()
                      if pid not in own and not in_group_of(pid, lasting)},
        "zombies": set(g.zombies()),
        "logs": numbered(os.listdir(f"{g.state}/logs")) - known,
        "series": numbered(os.listdir(f"{g.state}/series")) - known,
    }
    return {kind: sorted(what, key=str) for kind, what in found.items() if what}


def clean(g, lasting, known):
    """Waits until nothing is left; what is left after all."""
    patiently(lambda: not leftovers(g, lasting, known()), SETTLE_SEC)
    return leftovers(g, lasting, known())


def shims_of(g, lasting):
    return [pid for pid in g.processes() if comm(pid) == "schedgov-shim" and in_group_of(pid, lasting)]
