# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the harness's modules share: where things are, how it fails, what it says."""
import contextlib
import fcntl
import hashlib
import os
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
HERE = f"{TOP}/tests/vm"
CACHE = f"{TOP}/build/vm"
LOGS = f"{CACHE}/logs"
# Several trees can share their images: the names say what is in them.
IMAGES = os.environ.get("SG_VM_IMAGES", CACHE)


class Failure(Exception):
    """The harness itself failed: one line about it, exit status 125."""


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def digest(*parts):
    """A name for what depends on these byte strings."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()[:16]


def content(path):
    with open(path, "rb") as f:
        return f.read()


def remove_quietly(path):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


@contextlib.contextmanager
def locked(path, shared=False):
    """Holds a lock on a file for a block; other runs wait for it."""
    with open(path, "a", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def admitted(everything):
    """Waits until this machine has room for another guest, or for a run of several. Emulation
    takes a CPU each, two thirds of the time; more of them at once would only run into their time
    limits."""
    names = [f"{IMAGES}/slot-{n}.lock" for n in range((os.cpu_count() or 1) + 1)]
    with contextlib.ExitStack() as held:
        with locked(f"{IMAGES}/queue.lock"):  # first come, first served
            waiting, begin, said = list(names), time.monotonic(), False
            while waiting if everything else len(waiting) == len(names):
                taken = next((name for name in waiting if take(name, held)), None)
                if taken:
                    waiting.remove(taken)
                    continue
                if not said and time.monotonic() > begin + 2:
                    said = True
                    say("waiting for the guests of other runs")
                time.sleep(0.1)  # until any of them becomes free
        yield


def take(name, held):
    f = open(name, "a", encoding="ascii")
    try:
        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        f.close()
        return False
    held.enter_context(f)
    return True
