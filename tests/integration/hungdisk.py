# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file system whose server has stopped answering: whoever looks at anything in it sleeps in the
kernel, where no signal reaches them, until it is closed."""
import ctypes
import os
import struct

INIT, VERSION = 26, (7, 31)  # of linux/fuse.h
MNT_DETACH = 2
LIBC = ctypes.CDLL(None, use_errno=True)


class HungDisk:
    def __init__(self, path):
        os.makedirs(path, exist_ok=True)
        self.path = path
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other"
        if LIBC.mount(b"hung", path.encode(), b"fuse", 0, options.encode()) != 0:
            error = ctypes.get_errno()
            os.close(self.fd)
            raise OSError(error, os.strerror(error), path)
        self.begin()

    def begin(self):
        """Says that it is there, and nothing else any more."""
        request = os.read(self.fd, 1 << 17)
        _, opcode, unique = struct.unpack_from("<IIQ", request)
        assert opcode == INIT, opcode
        answer = struct.pack("<IIIIHHIIHHI", *VERSION, 0, 0, 12, 9, 1 << 12, 1, 0, 0, 0).ljust(64, b"\0")
        os.write(self.fd, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)

    def close(self):
        LIBC.umount2(self.path.encode(), MNT_DETACH)
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
