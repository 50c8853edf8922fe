# SPDX-License-Identifier: LGPL-2.1-or-later
"""The build that guests get: what `make install PREFIX=/usr` leaves, as a tar file.

PREFIX is compiled in, so these programs are made in a folder of their own beside the others.
"""
import os
import re
import shutil
import subprocess
import tempfile

from common import CACHE, TOP, Failure, locked, remove_quietly

PROGRESS = re.compile(r"  [A-Z]+ ")


def make(variant, stage):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(["make", "-C", TOP, "-s", f"VARIANT={variant}",
                             f"O=build/vm/{variant}", "PREFIX=/usr", f"DESTDIR={stage}", "install"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=env, check=False)
    if result.returncode != 0:
        said = result.stdout.decode(errors="replace").splitlines()
        said = [line for line in said if not PROGRESS.match(line)]
        raise Failure("\n".join(["make install failed:", *said[:20]]))


def build(variant, path):
    temporary = tempfile.mkdtemp(prefix="stage-", dir=CACHE)
    try:
        os.mkdir(f"{temporary}/root", 0o755)
        make(variant, f"{temporary}/root")
        subprocess.run(["tar", "-C", f"{temporary}/root", "--owner=0", "--group=0", "--sort=name",
                        "--mtime=@0", "-cf", f"{temporary}/tar", "."], check=True)
        os.rename(f"{temporary}/tar", path)
    except BaseException:
        remove_quietly(path)  # an older build must not pass for this one
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def ensure(variant, prepared=False):
    """The file, brought up to date unless `prepared`; open, for it may be replaced."""
    os.makedirs(CACHE, exist_ok=True)
    path = f"{CACHE}/stage-{variant}.tar"
    with locked(f"{CACHE}/stage-{variant}.lock"):
        if not prepared:
            build(variant, path)
        try:
            return open(path, "rb")
        except FileNotFoundError:
            raise Failure("the build was not prepared") from None
