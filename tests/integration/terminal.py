# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs on terminals, and somebody who types."""
import os
import pty
import select
import signal
import time

from harness import PATIENCE, until


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, g, *argv):
        self.g, self.seen, self.status = g, "", None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(g.work)
            os.execvpe(argv[0], argv, {**g.env, "PS1": "prompt> ", "TERM": "dumb"})

    def send(self, data):
        os.write(self.fd, data.encode())

    def expect(self, wanted):
        """Reads until that has come; what came before it is used up."""
        end = time.monotonic() + PATIENCE
        while wanted not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"no {wanted!r} in {self.seen!r}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                raise AssertionError(f"ended without {wanted!r}: {self.seen!r}")
            self.seen += piece.decode(errors="replace")
        before, _, self.seen = self.seen.partition(wanted)
        return before

    def rest(self):
        """What comes until it ends."""
        data = b""
        while select.select([self.fd], [], [], PATIENCE)[0]:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                return self.seen + data.decode(errors="replace").replace("\r\n", "\n")
            data += piece
        raise AssertionError(f"goes on without a word after {data!r}")

    def wait(self):
        """The exit status, 128 + n for a signal."""
        def ended():
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            return pid
        until(ended, "end of the program on the terminal")
        return self.status if self.status >= 0 else 128 - self.status

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
