# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest that has booted and settled, saved once: IMAGE/warm-KEY holds its RAM (state) and what its
boot wrote to the disk (disk.qcow2, on top of the image). Resuming it takes a second."""
import glob
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time

import guest
from common import CACHE, HERE, LOGS, Failure, content, digest, locked, say

BOOT_SECONDS = 180
SCRIPT_SECONDS = 180
QUIET_NETWORK = "239.77.0.1:9"  # of a guest that talks to nobody


def key():
    version = subprocess.run([guest.QEMU, "--version"], stdout=subprocess.PIPE, check=True).stdout
    return digest(version, repr(guest.MACHINE).encode(), guest.CMDLINE.encode(),
                  content(f"{HERE}/guest/warm-up"))


class Monitor:
    """The few QMP commands that saving takes."""

    def __init__(self, sock):
        self.sock = sock
        sock.settimeout(60)
        self.lines = sock.makefile("rb")
        self.message()
        self.command("qmp_capabilities")

    def message(self):
        line = self.lines.readline()
        if not line:
            raise Failure("QEMU's monitor is gone")
        return json.loads(line)

    def command(self, name, **arguments):
        self.sock.sendall(json.dumps({"execute": name, "arguments": arguments}).encode())
        while True:
            answer = self.message()
            if "error" in answer:
                raise Failure(f"QEMU refuses {name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def save(self, command):
        self.command("migrate-set-capabilities",
                     capabilities=[{"capability": "events", "state": True}])
        self.command("migrate-set-parameters", **{"max-bandwidth": 10 << 30})
        self.command("migrate", uri=f"exec:{command}")
        while True:
            status = self.message().get("data", {}).get("status")
            if status == "completed":
                return
            if status == "failed":
                raise Failure("QEMU could not save the guest")


def boot(image, disk, shares, console, network, monitor=False):
    """A guest that has booted as any machine does."""
    new = guest.Guest(image, disk, shares, console, network, monitor=monitor)
    try:
        new.wait_hello(BOOT_SECONDS)
    except BaseException:
        new.close()
        raise
    return new


def overlay(directory, backing):
    """A disk that keeps what is written to it, as Guest's `disk`."""
    path = f"{directory}/disk.qcow2"
    form = "raw" if backing.endswith("/root.ext4") else "qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", form, "-b",
                    os.path.relpath(backing, directory), path], check=True)
    return f"format=qcow2,file={guest.quote(path)}"


def no_shares(directory):
    os.mkdir(f"{directory}/empty")
    return {name: f"{directory}/empty" for name in guest.SHARES}


def script(running, name, env):
    """Runs one of the scripts in guest/, to the end."""
    said = []
    try:
        status = running.run(["/bin/bash", "-c", content(f"{HERE}/guest/{name}").decode()], env,
                             lambda _, data: said.append(data), SCRIPT_SECONDS)
    except guest.Expired:
        raise Failure(f"{name} is still busy after {SCRIPT_SECONDS} s") from None
    if status != 0:
        raise Failure(f"{name}: " + b"".join(said).decode(errors="replace").strip())


def console(directory):
    return f"file,path={guest.quote(directory)}/console.log"


def save_booted(image, directory):
    begin = time.monotonic()
    first = boot(image, overlay(directory, f"{image}/root.ext4"), no_shares(directory),
                 console(directory), QUIET_NETWORK, monitor=True)
    try:
        booted = time.monotonic()
        script(first, "warm-up", {})
        Monitor(first.monitor).save(f"cat >{shlex.quote(directory)}/state")
    finally:
        first.close()
    say(f"booted in {booted - begin:.1f} s, saved after {time.monotonic() - begin:.1f} s")


def save_installed(image, saved, tar, directory):
    begin = time.monotonic()
    shares = no_shares(directory)
    shutil.copy(tar, f"{directory}/empty/stage.tar")
    copy = guest.Guest(image, overlay(directory, f"{saved}/disk.qcow2"), shares,
                       console(directory), QUIET_NETWORK, f"{saved}/state", monitor=True)
    try:
        script(copy, "setup", {"VM_PHASE": "install", "VM_NOW": str(time.time())})
        Monitor(copy.monitor).save(f"cat >{shlex.quote(directory)}/state")
    finally:
        copy.close()
    say(f"installed the build in {time.monotonic() - begin:.1f} s")


def create(path, save):
    """A directory that appears when `save` has filled it."""
    temporary = tempfile.mkdtemp(prefix="new-", dir=os.path.dirname(path))
    try:
        save(temporary)
        shutil.rmtree(f"{temporary}/empty")
        os.rename(temporary, path)
    except Failure:
        keep_console(f"{temporary}/console.log")
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def keep_console(path):
    if not os.path.exists(path):
        return
    os.makedirs(LOGS, exist_ok=True)
    kept = shutil.copy(path, f"{LOGS}/boot-{os.getpid()}.log")
    say(f"console: {os.path.relpath(kept)}")


def ensure(image, prepared=False):
    """The directory of the saved guest, made if need be and not `prepared`."""
    path = f"{image}/warm-{key()}"
    with locked(f"{image}/warm.lock"):
        if not os.path.isdir(path):
            if prepared:
                raise Failure("no saved guest was prepared")
            create(path, lambda directory: save_booted(image, directory))
    return path


def installed(image, saved, variant, tar, prepare=False):
    """The same with the build in `tar` installed, if there is one or it is to be made, else None.
    It saves every run an installation: worth it for many of the same build."""
    name = digest(content(tar), content(f"{HERE}/guest/setup"), saved.encode())
    path = f"{CACHE}/installed-{variant}-{name}"
    with locked(f"{CACHE}/installed-{variant}.lock"):
        if prepare and not os.path.isdir(path):
            for old in glob.glob(f"{CACHE}/installed-{variant}-*"):
                shutil.rmtree(old, ignore_errors=True)
            create(path, lambda directory: save_installed(image, saved, tar, directory))
    return path if os.path.isdir(path) else None


def resume(image, saved, shares, console, network):
    """A copy of the saved guest. It answers as soon as its RAM is there."""
    return guest.Guest(image, f"format=qcow2,snapshot=on,file={guest.quote(saved)}/disk.qcow2",
                       shares, console, network, incoming=f"{saved}/state")
