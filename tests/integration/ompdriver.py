# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of libschedgov-omp.so share: an allocation, and programs that answer a line to a line."""
import os
import shutil
import subprocess
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.abspath(os.environ.get("SG_BUILD", "build/release"))
PRELOAD = f"{BUILD}/libschedgov-omp.so"
SYSTEM_PYTHON = "/usr/bin/python3"  # which has Debian's NumPy
COMPILERS = {"gcc": ["gcc", "-fopenmp"], "clang": ["clang", "-fopenmp"]}
built = {}

# Loads the libraries that it is asked about, each into a scope of its own.
HOST = """
import ctypes, sys
loaded = {}
for line in sys.stdin:
    path = line.strip()
    if path not in loaded:
        loaded[path] = ctypes.CDLL(path)  # RTLD_LOCAL
    print(loaded[path].threads(), flush=True)
"""


def team_of(allocation):
    """Where the processes of the job with that allocation see each other."""
    h = 0xCBF29CE484222325
    for byte in allocation.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return f"/dev/shm/schedgov-{h:016x}"


class Program:
    """One that answers a line to a line."""

    def __init__(self, argv, env):
        self.process = subprocess.Popen(argv, env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"it ended: {self.process.wait(30)}"
        return float(answer) if "." in answer else int(answer)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Bench:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="sg-omp-")
        self.file = f"{self.dir}/allocation"
        self.programs, self.jobs, self.seq = [], [], 0

    def publish(self, threads, in_place=False):
        self.seq += 1
        self.write(f"VERSION=1\nSEQ={self.seq}\nCPUS={threads}.0000\nTHREADS={threads}\n", in_place)

    def write(self, text, in_place=False):
        path = self.file if in_place else f"{self.dir}/new"
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        if not in_place:
            os.rename(path, self.file)

    def job(self):
        """The path of the same allocation for one more job: what shares a path shares what it is worth."""
        self.jobs.append(f"{self.dir}/{len(self.jobs)}")
        os.symlink(self.dir, self.jobs[-1])
        return f"{self.jobs[-1]}/allocation"

    def start(self, argv, **env):
        base = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "SCHEDGOV_"))}
        env = {"LD_PRELOAD": PRELOAD, "SCHEDGOV_ALLOCATION": self.job(), "OMP_NUM_THREADS": "4",
               "OMP_WAIT_POLICY": "passive", **env}
        program = Program(argv, {k: v for k, v in {**base, **env}.items() if v is not None})
        self.programs.append(program)
        return program

    def regions(self, compiler, **env):
        return self.start([build(f"regions-{compiler}", "regions.c", *COMPILERS[compiler])], **env)

    def complaints(self):
        return ""

    def close(self):
        for program in self.programs:
            program.close()
        for job in self.jobs:
            if os.path.exists(team_of(f"{job}/allocation")):
                os.unlink(team_of(f"{job}/allocation"))
        shutil.rmtree(self.dir)


def build(name, source, *command):
    """Compiles one of tests/omp/, once."""
    if "dir" not in built:
        built["dir"] = tempfile.mkdtemp(prefix="sg-omp-build-")
    path = f"{built['dir']}/{name}"
    if name not in built:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([command[0], "-O2", "-Wall", "-o", path, f"{TOP}/tests/omp/{source}", *command[1:]],
                       check=True)
        built[name] = path
    return path


def close():
    """Removes what was built."""
    if "dir" in built:
        shutil.rmtree(built["dir"])
