# SPDX-License-Identifier: LGPL-2.1-or-later
"""One guest: a QEMU process of ours, and the agent in it.

QEMU is in our process group and dies with us, by SIGKILL from the kernel if we can't end it. Its
disks are overlays without a name, so nothing is left of it. All guests are the same machine, for a
saved one can only be resumed with the devices that it was saved with.
"""
import contextlib
import os
import shlex
import socket
import struct
import subprocess
import time

from common import Failure

QEMU = "qemu-system-x86_64"
SHARES = ("src", "build", "run")
MEMORY_MIB = 2048
CPUS = 2
# QEMU finds code that it has translated by its address: with the same ones in each process a guest is twice as
# fast. Two CPUs that share one of the host's wait for each other's locks and flushed TLBs; the second is off until
# a script asks for it. And vectors of 32 bytes are emulated one element after the other.
CMDLINE = ("console=ttyS0 quiet psi=1 mitigations=off norandmaps nokaslr maxcpus=1 tsc=reliable clocksource=tsc "
           "no_timer_check net.ifnames=0 panic=-1 systemd.show_status=0 rw")
MACHINE = ["-nodefaults", "-no-user-config", "-display", "none", "-M", "q35", "-cpu", "max,avx=off,avx2=off",
           "-accel", "tcg,thread=multi,tb-size=512", "-smp", str(CPUS), "-m", str(MEMORY_MIB),
           "-device", "virtio-rng-pci", "-device", "vmgenid,guid=auto",
           "-device", "virtio-blk-pci,drive=root", "-device", "virtio-blk-pci,drive=spare",
           "-device", "virtio-net-pci,netdev=net,mac=52:54:00:77:00:01",
           "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=vm-agent",
           "-serial", "chardev:console"]
MACHINE += [word for share in SHARES
            for word in ("-device", f"virtio-9p-pci,fsdev={share},mount_tag={share}")]


class Gone(Failure):
    """QEMU has ended."""


class Rebooted(Exception):
    """The guest has started anew while a command ran."""


class Expired(Exception):
    """The command's time is over."""


class Guest:
    """`shares` maps each of SHARES to a directory of the host, read-only there. `console` is a
    QEMU character device, `network` the group of the run's network."""

    def __init__(self, image, disk, shares, console, network, incoming=None, monitor=False):
        self.agent, theirs = socket.socketpair()
        self.monitor, passed = None, [theirs.fileno()]
        command = [QEMU, *MACHINE, "-kernel", f"{image}/vmlinux", "-initrd", f"{image}/initrd",
                   "-append", CMDLINE, *drives(image, disk),
                   "-chardev", f"socket,id=agent,fd={theirs.fileno()}",
                   "-chardev", f"{console},id=console",
                   "-netdev", f"socket,id=net,mcast={network},localaddr=127.0.0.1"]
        for name in SHARES:
            command += ["-fsdev", f"local,id={name},path={quote(shares[name])},"
                        "security_model=none,readonly=on,multidevs=remap"]
        if incoming:
            command += ["-incoming", f"exec:exec cat {shlex.quote(incoming)}"]
        if monitor:
            self.monitor, other = socket.socketpair()
            passed.append(other.fileno())
            command += ["-chardev", f"socket,id=qmp,fd={other.fileno()}",
                        "-mon", "chardev=qmp,mode=control"]
        self.errors = open(f"{shares['run']}/qemu.log", "a+b")
        try:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command],
                                            pass_fds=passed, cwd=shares["run"],
                                            stdin=None if console.startswith("stdio") else subprocess.DEVNULL,
                                            stdout=None if console.startswith("stdio") else self.errors,
                                            stderr=self.errors,
                                            env={**os.environ, "TMPDIR": shares["run"]})
        finally:
            theirs.close()
            if monitor:
                other.close()

    # --- the agent ---

    def receive(self, size, deadline):
        data = b""
        while len(data) < size:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Expired
            self.agent.settimeout(left)
            try:
                piece = self.agent.recv(size - len(data))
            except TimeoutError:
                raise Expired from None
            except OSError:
                piece = b""
            if not piece:
                raise Gone(f"QEMU ended: {self.complaint()}")
            data += piece
        return data

    def frame(self, deadline):
        kind, size = struct.unpack("<cI", self.receive(5, deadline))
        return kind, self.receive(size, deadline)

    def send(self, kind, data):
        try:
            self.agent.settimeout(60)
            self.agent.sendall(struct.pack("<cI", kind, len(data)) + data)
        except OSError:
            raise Gone(f"QEMU ended: {self.complaint()}") from None

    def wait_hello(self, seconds):
        """A guest that boots says when its agent is there."""
        try:
            kind, _ = self.frame(time.monotonic() + seconds)
        except Expired:
            raise Failure(f"the guest hasn't booted after {seconds} s") from None
        if kind != b"H":
            raise Failure(f"the agent began with {kind}")

    def run(self, argv, env, output, seconds, cwd="/"):
        """Runs a command; its exit status. `output` is called with 1 or 2 and bytes. After
        Expired the command still runs: see interrupt()."""
        strings = [cwd, str(len(argv)), *argv, *(f"{k}={v}" for k, v in env.items())]
        self.send(b"R", b"".join(os.fsencode(s) + b"\0" for s in strings))
        return self.follow(output, time.monotonic() + seconds)

    def follow(self, output, deadline):
        while True:
            kind, data = self.frame(deadline)
            if kind == b"X":
                return data[0]
            if kind == b"H":
                raise Rebooted
            output(1 if kind == b"o" else 2, data)

    def interrupt(self, signal, output, seconds):
        """Signals the command that runs, and waits for its end; whether it came."""
        self.send(b"S", bytes([signal]))
        with contextlib.suppress(Expired, Rebooted):
            self.follow(output, time.monotonic() + seconds)
            return True
        return False

    # --- the process ---

    def complaint(self):
        """QEMU's last words. Waits for its end, as its sockets are closed before."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"status {self.process.returncode}"

    def kill(self):
        """Whoever waits for the guest learns that it is gone."""
        if self.process.poll() is None:
            self.process.kill()

    def close(self):
        self.kill()
        self.process.wait()
        self.agent.close()
        if self.monitor:
            self.monitor.close()
        self.errors.close()


def quote(path):
    """In QEMU's option lists a comma separates."""
    return path.replace(",", ",,")


def drives(image, disk):
    """`disk` is the root disk's file with its format, and perhaps snapshot=on: that is QEMU's own
    overlay, unlinked as soon as it is open."""
    return ["-drive", f"if=none,id=root,cache=unsafe,discard=unmap,{disk}",
            "-drive", f"if=none,id=spare,cache=unsafe,snapshot=on,format=raw,"
                      f"file={quote(image)}/spare.raw"]
