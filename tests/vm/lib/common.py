# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the harness's modules share: where things are, how it fails, what it says."""
import contextlib
import fcntl
import hashlib
import os
import sys

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
