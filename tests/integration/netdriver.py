# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of network bytes share: jobs that send to us over loopback, and what is shown of it."""
import contextlib
import socket
import sys
import threading

from harness import until

MIB = 1 << 20
# Sends so many MiB whenever a line "N" is added to its file of orders, from a socket made then.
SEND = """
import os, socket, sys, time
port, orders = int(sys.argv[1]), sys.argv[2]
done = 0
while True:
    lines = open(orders).read().split() if os.path.exists(orders) else []
    for line in lines[done:]:
        with socket.create_connection(("127.0.0.1", port)) as s:
            for _ in range(int(line)):
                s.sendall(bytes(1 << 20))
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
        done += 1
    time.sleep(0.05)
"""


@contextlib.contextmanager
def sink():
    """A port whose server takes all that comes, and answers a byte at the end."""
    def take(s):
        with s:
            while s.recv(MIB):
                pass
            s.sendall(b".")

    def serve():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=take, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def sender(port, orders):
    return (sys.executable, "-c", SEND, str(port), orders)


def order(path, mib):
    with open(path, "a", encoding="ascii") as f:
        f.write(f"{mib}\n")


def shown(job):
    """(received, sent), None = not known."""
    usage = job["usage"]
    return usage["net_rx_bytes"], usage["net_tx_bytes"]


def reaches(look, mib):
    """Waits until a job shows so many MiB sent, with the headers, and little received."""
    def there():
        seen[:] = look()
        return seen[1] is not None and seen[1] >= mib * MIB
    seen = []
    until(there, f"{mib} MiB to be shown as sent")
    received, sent = seen
    # 66 bytes of headers for each segment; of a busy machine those may be Ethernet's, of 1448 bytes, and when the sink comes
    # late segments of 64 KiB are sent again, which counts: up to 5.5 % in all have been seen.
    assert sent <= mib * MIB * 1.15, f"{sent} bytes for {mib} MiB"
    assert 0 < received < mib * MIB * 0.05, f"{received} bytes received for {mib} MiB sent"
    return sent
