# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest that has booted and settled, saved once: IMAGE/warm-KEY holds its RAM (state) and what its
boot wrote to the disk (disk.qcow2, on top of the image). Resuming it takes a second."""
import json
import os
import shutil
import subprocess
import tempfile
import time

import guest
from common import HERE, LOGS, Failure, content, digest, locked, say

BOOT_SECONDS = 180
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


def save(image, directory):
    """Boots, settles and saves a guest. The directory is all that it sees of the host."""
    overlay = f"{directory}/disk.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", "../root.ext4",
                    overlay], check=True)
    empty = f"{directory}/empty"
    os.mkdir(empty)
    shares = {name: empty for name in guest.SHARES}
    begin = time.monotonic()
    console = f"{directory}/console.log"
    first = boot(image, f"format=qcow2,file={guest.quote(overlay)}", shares,
                 f"file,path={guest.quote(console)}", QUIET_NETWORK, monitor=True)
    try:
        booted = time.monotonic()
        output = []
        status = first.run(["/bin/bash", "-c", content(f"{HERE}/guest/warm-up").decode()], {},
                           lambda _, data: output.append(data), BOOT_SECONDS)
        if status != 0:
            raise Failure("warm-up: " + b"".join(output).decode(errors="replace").strip())
        Monitor(first.monitor).save("cat >../state")
    finally:
        first.close()
    shutil.rmtree(empty)
    say(f"booted in {booted - begin:.1f} s, saved after {time.monotonic() - begin:.1f} s")


def keep_console(path):
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
            temporary = tempfile.mkdtemp(prefix="new-", dir=image)
            try:
                save(image, temporary)
                os.rename(temporary, path)
            except Failure:
                keep_console(f"{temporary}/console.log")
                raise
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    return path


def resume(image, saved, shares, console, network):
    """A copy of the saved guest. It answers as soon as its RAM is there."""
    return guest.Guest(image, f"format=qcow2,snapshot=on,file={guest.quote(saved)}/disk.qcow2",
                       shares, console, network, incoming=f"{saved}/state")
