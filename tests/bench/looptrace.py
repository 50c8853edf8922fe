# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the kernel did between two moments for processes whose work is waited for: when each was
woken, when it got a CPU and after whom, and where it slept though it had work. It is the kernel's
own trace (tracefs), in an instance of ours, so that nobody else's tracing is touched.
"""
import collections
import os
import re
import subprocess
import tempfile
import time

EVENTS = ("sched/sched_switch", "sched/sched_wakeup", "sched/sched_process_exit",
          "signal/signal_generate")
BUFFER_KIB = 16384  # of each CPU: some seconds
LINES_MAX = 80
FRAMES_MAX = 12
LINE = re.compile(r".{16}-(\d+)\s+\[(\d+)\]\s+\S+\s+(\d+\.\d+): (\S+?):? (.*)")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=\d+ prev_state=(\S+) ==> "
                    r"next_comm=(.*) next_pid=(\d+)")
SLEEPING = re.compile(r"schedule|io_schedule|^_*wait_|^trace_|^event_|^__traceiter")


class Trace:
    """Of one case after the other; what tell() says is of the last. `blocked`: the process of which it
    is told where in the kernel it sleeps when no event can wake it."""

    def __init__(self, blocked):
        self.mount = tempfile.mkdtemp(prefix="sg-trace-")
        subprocess.run(["mount", "-t", "tracefs", "tracefs", self.mount], check=True)
        self.top = f"{self.mount}/instances/schedgov-{os.getpid()}"
        os.mkdir(self.top)
        self.began = self.ended = 0
        self.put("trace_clock", "mono")
        self.put("buffer_size_kb", str(BUFFER_KIB))
        self.put("events/sched/sched_switch/trigger",
                 f"stacktrace if prev_pid == {blocked} && prev_state == 2")
        for event in EVENTS:
            self.put(f"events/{event}/enable", "1")

    @property
    def took(self):
        return self.ended - self.began

    def put(self, name, text):
        with open(f"{self.top}/{name}", "w", encoding="ascii") as f:
            f.write(text)

    def begin(self):
        self.put("tracing_on", "0")
        self.put("trace", "\n")
        self.put("tracing_on", "1")
        self.began = time.monotonic()

    def end(self):
        self.ended = time.monotonic()
        self.put("tracing_on", "0")

    def events(self):
        """(time, CPU, pid, name, text), and as text of a stack its functions, innermost first."""
        stack = None
        with open(f"{self.top}/trace", encoding="utf-8", errors="replace") as f:
            for line in f:
                if line.startswith(" => ") and stack is not None:
                    stack.append(line[4:].strip())
                m = LINE.match(line)
                if not m:
                    continue
                pid, cpu, at, event, what = m.groups()
                stack = what = [] if event.startswith("<stack") else what
                if self.began <= float(at) <= self.ended:
                    yield float(at), int(cpu), int(pid), event, what

    def tell(self, names):
        """Lines about these processes ({pid: name}), behind one about all."""
        lines, had, since = [], collections.Counter(), {}

        def say(at, cpu, pid, text):
            if pid in names:
                lines.append(f"{(at - self.began) * 1e3:9.3f} ms  CPU {cpu}  {names[pid]} {text}")
        for at, cpu, pid, event, what in list(self.events()):
            if event == "sched_switch":
                before, before_pid, state, after, after_pid = SWITCH.match(what).groups()
                had[before] += at - since.get(cpu, self.began)
                since[cpu] = at
                say(at, cpu, int(before_pid), f"leaves the CPU to {after}"
                    + (", and has work" if state.startswith("R") else ""))
                say(at, cpu, int(after_pid), f"gets the CPU after {before}")
            elif event == "sched_process_exit":
                say(at, cpu, pid, "exits")
            elif isinstance(what, list):
                where = [f for f in what if not SLEEPING.search(f)]
                say(at, cpu, pid, "sleeps in " + " < ".join(where[:FRAMES_MAX]))
            else:
                text = "is woken" if event == "sched_wakeup" else "is sent a signal"
                say(at, cpu, int(re.search(r"\bpid=(\d+)", what)[1]), text)
        yield (f"{self.took * 1e3:.1f} ms, in which the CPUs were had by "
               + ", ".join(f"{comm} for {sec * 1e3:.1f} ms" for comm, sec in had.most_common(8)))
        yield from lines[:LINES_MAX]
        if len(lines) > LINES_MAX:
            yield f"… and {len(lines) - LINES_MAX} more"

    def close(self):
        os.rmdir(self.top)
        subprocess.run(["umount", self.mount], check=True)
        os.rmdir(self.mount)
