# SPDX-License-Identifier: LGPL-2.1-or-later
"""The build that guests get: what `make install PREFIX=/usr` leaves, as a tar file.

PREFIX is compiled in, so these programs are made in a folder of their own beside the others. The
file is never changed, only replaced: a guest may be reading it.
"""
import os
import shutil
import subprocess
import tempfile

from common import CACHE, TOP, Failure, locked


def make(variant, stage):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(["make", "-C", TOP, "-s", f"VARIANT={variant}",
                             f"O=build/vm/{variant}", "PREFIX=/usr", f"DESTDIR={stage}", "install"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=env, check=False)
    if result.returncode != 0:
        raise Failure("make install failed:\n" + result.stdout.decode(errors="replace").rstrip())


def ensure(variant, link):
    """Brings the build up to date, and links its file to `link`."""
    os.makedirs(CACHE, exist_ok=True)
    path = f"{CACHE}/stage-{variant}.tar"
    with locked(f"{CACHE}/stage-{variant}.lock"):
        temporary = tempfile.mkdtemp(prefix="stage-", dir=CACHE)
        try:
            os.chmod(temporary, 0o755)
            os.mkdir(f"{temporary}/root", 0o755)
            make(variant, f"{temporary}/root")
            subprocess.run(["tar", "-C", f"{temporary}/root", "--owner=0", "--group=0", "-cf",
                            f"{temporary}/tar", "."], check=True)
            os.rename(f"{temporary}/tar", path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        os.link(path, link)
