# SPDX-License-Identifier: LGPL-2.1-or-later
"""The guest's image, IMAGES/image-KEY: root.ext4, vmlinux, initrd, and the empty second disk.

The key is made of everything that the image is made of. An image appears under its name when it is
complete; one run builds it while the others wait.
"""
import os
import shutil
import subprocess
import tempfile

from common import CACHE, HERE, IMAGES, Failure, content, digest, locked, say

SPARE_BYTES = 256 << 20


def key():
    inputs = [content("/etc/os-release")]
    for directory, _, names in sorted(os.walk(f"{HERE}/image")):
        for name in sorted(names):
            inputs += [name.encode(), content(f"{directory}/{name}")]
    return digest(*inputs)


def build(path):
    temporary = tempfile.mkdtemp(prefix="new-", dir=IMAGES)
    try:
        result = subprocess.run([f"{HERE}/image/build", temporary], stdin=subprocess.DEVNULL,
                                check=False)
        if result.returncode != 0:
            raise Failure("the image could not be built")
        with open(f"{temporary}/spare.raw", "wb") as f:
            f.truncate(SPARE_BYTES)
        os.chmod(temporary, 0o755)
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_others(current):
    """QEMU keeps what it has open; a run that is about to open an old one fails, and says so."""
    for name in os.listdir(CACHE):
        if name.startswith(("image-", "new-")) and name != os.path.basename(current):
            shutil.rmtree(f"{CACHE}/{name}", ignore_errors=True)


def ensure(prepared=False):
    """The directory of the image, built if need be and not `prepared`."""
    path = f"{IMAGES}/image-{key()}"
    os.makedirs(IMAGES, exist_ok=True)
    with locked(f"{IMAGES}/image.lock"):
        if not os.path.isdir(path):
            if prepared:
                raise Failure("the guest's image was not prepared")
            if os.geteuid() != 0:
                raise Failure("only root can build the image")
            say("building the guest's image (once, about 90 s)")
            build(path)
            if IMAGES == CACHE:
                remove_others(path)
    return path
