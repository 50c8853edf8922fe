# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a job may tell its governor, and what it is told. See libschedgov(3).

    import schedgov
    for step in range(1, steps + 1):
        loss = train()
        schedgov.progress(loss, step, steps)
        schedgov.dispatch()                     # makes the callbacks
    torch.set_num_threads(schedgov.threads(otherwise=torch.get_num_threads()))

Outside of a governed job every function does nothing. None prints, none raises for what the governor
does or doesn't do, none but flush() waits. One file, Python 3.8 or later, nothing else: copy it where
you like.
"""
import array
import atexit
import math
import os
import select
import socket
import threading
import time
from typing import Callable, NamedTuple, Optional

__all__ = ["Allocation", "allocation", "allocation_signal", "checkpointed", "dispatch", "dropped", "epoch",
           "flush", "governed", "on_allocation", "on_checkpoint", "progress", "status", "step", "threads"]

_RATE = 20  # reports per second, and as many at once
_STATUS_MAX = 127
_TEXT_MAX = 8192
_THREADS_MAX = 65536
_EXIT_SECONDS = 0.2
_RETRY_SECONDS = 0.001
_SENT, _FULL, _LOST = range(3)
_PROGRESS = ("SCHEDGOV_EVAL", "EPOCH", "EPOCHS", "STEP", "TOTAL_STEPS")


class Allocation(NamedTuple):
    """What the job may use."""
    seq: int  # one more with each change
    cpus: float  # how many CPUs' worth of time
    threads: int  # how many threads make the best of it
    cpu_list: str  # "0-3,6", "" = not known
    gpus: str  # as CUDA_VISIBLE_DEVICES, "" = none, or not known
    deadline: float  # when the job will be ended, as time.time(); 0 = never


# --- telling ---

class _Teller:
    """One report waits, of the newest values; it is sent at once if there were few of late."""

    def __init__(self, address):
        self.address = "\0" + address[1:] if address.startswith("@") else address
        self.renew()

    def renew(self):
        """Also in a child, whose parent sends what it has itself."""
        self.lock = threading.Lock()
        self.pid = os.getpid()
        self.socket = None
        self.waiting = {}
        self.tokens, self.counted = float(_RATE), time.monotonic()
        self.unseen = False  # what was sent may not have been seen, or was lost
        self.dropped = 0

    def send(self, text, fds=()):
        """_SENT, _FULL (the governor's queue is), or _LOST: there is no governor."""
        try:
            if self.socket is None:
                self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
            self.socket.sendmsg([text.encode("utf-8", "replace")], control, socket.MSG_DONTWAIT,
                                self.address)
            return _SENT
        except BlockingIOError:
            return _FULL
        except OSError:
            return _LOST

    def may_send(self):
        now = time.monotonic()
        self.tokens = min(float(_RATE), self.tokens + (now - self.counted) * _RATE)
        self.counted = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def send_waiting(self):
        if not self.waiting:
            return _SENT
        result = self.send("".join(f"{k}={v}\n" for k, v in self.waiting.items()))
        if result != _FULL:
            self.waiting = {}
            self.unseen = True
        self.dropped += result == _LOST
        return result

    def tell(self, values, urgent=False):
        """A thread that finds another one here leaves its values out rather than wait."""
        if not self.lock.acquire(blocking=False):
            self.dropped += 1
            return False
        try:
            if "STEP" in values or "SCHEDGOV_EVAL" in values:
                self.dropped += any(k in self.waiting for k in _PROGRESS)
                for key in _PROGRESS[1:]:
                    self.waiting.pop(key, None)
            self.waiting.update(values)
            if self.may_send() or urgent:
                self.send_waiting()
        finally:
            self.lock.release()
        return True

    def barrier(self, deadline):
        """The governor closes the pipe when it has handled all that came before."""
        ours, theirs = os.pipe()
        try:
            result = self.send("BARRIER=1", [theirs])
            while result == _FULL and time.monotonic() < deadline:
                time.sleep(_RETRY_SECONDS)
                result = self.send("BARRIER=1", [theirs])
            if result != _SENT:
                return False
            os.close(theirs)
            theirs = -1
            poll = select.poll()
            poll.register(ours, 0)
            return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
        finally:
            os.close(ours)
            if theirs >= 0:
                os.close(theirs)

    def send_rest(self, deadline):
        if not self.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return _LOST, True
        try:
            return self.send_waiting(), self.unseen
        finally:
            self.lock.release()

    def flush(self, seconds):
        deadline = time.monotonic() + seconds
        result, unseen = self.send_rest(deadline)
        while result == _FULL and time.monotonic() < deadline:
            time.sleep(_RETRY_SECONDS)
            result, unseen = self.send_rest(deadline)
        if result != _SENT or (unseen and not self.barrier(deadline)):
            return False
        self.unseen = False
        return True


# --- being told ---

def _values(text):
    """KEY=VALUE lines; None if a line is none."""
    values = {}
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals:
            values[key] = value
        elif line:
            return None
    return values


def _number(text):
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def _parse_allocation(text):
    """None if it makes no sense: half a truth is never acted upon."""
    values = _values(text)
    if values is None or values.get("VERSION", "1") != "1":
        return None
    try:
        threads_ = _number(values.get("THREADS", ""))
        cpus = values.get("CPUS", "0")
        whole, _, fraction = cpus.partition(".")
        found = Allocation(_number(values.get("SEQ", "0")), _number(whole) + _number(fraction or "0") /
                           10 ** len(fraction), threads_, values.get("CPU_LIST", ""),
                           values.get("GPUS", ""), _number(values.get("DEADLINE_USEC", "0")) / 1e6)
    except ValueError:
        return None
    return found if 1 <= threads_ <= _THREADS_MAX else None


def _parse_checkpoint(text):
    values = _values(text)
    try:
        return (_number(values["ID"]), values.get("WHY", "")) if values else None
    except (KeyError, ValueError):
        return None


class _File:
    """One that is replaced from time to time. It is kept open, so that its number isn't another's; a program
    may close, or use for its own, any descriptor that it doesn't know."""

    def __init__(self, path):
        self.path, self.fd, self.seen = path, -1, None

    def look(self):
        """(is it ours, does it have a name, what it looks like)"""
        try:
            s = os.fstat(self.fd)
        except OSError:
            return False, False, None
        looks = (s.st_dev, s.st_ino, s.st_mtime_ns, s.st_size)
        return self.seen is not None and looks[:2] == self.seen[:2], s.st_nlink > 0, looks

    def news(self):
        """Its text, if it isn't the one that was read last."""
        ours, named, looks = self.look()
        if ours and named and looks == self.seen:
            return None
        if ours:
            os.close(self.fd)
        self.fd, self.seen = -1, None
        try:
            self.fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
            self.seen = self.look()[2]
            data = os.read(self.fd, _TEXT_MAX + 1)
        except OSError:
            return None
        return data.decode("utf-8", "replace") if len(data) <= _TEXT_MAX else None


class _Watch:
    def __init__(self, path):
        self.allocation_file = _File(path)
        self.checkpoint_file = _File(os.path.join(os.path.dirname(path), "checkpoint"))
        self.lock = threading.RLock()
        self.allocation = self.told = self.on_allocation = self.on_checkpoint = None
        self.checkpoint_told = 0

    def current(self):
        with self.lock:
            text = self.allocation_file.news()
            if text is not None:
                self.allocation = _parse_allocation(text) or self.allocation
            return self.allocation

    def next_checkpoint(self):
        with self.lock:
            text = self.checkpoint_file.news() if self.on_checkpoint else None
            asked = _parse_checkpoint(text) if text is not None else None
            if not asked or asked[0] in (0, self.checkpoint_told):
                return None
            self.checkpoint_told = asked[0]
            return asked

    def dispatch(self):
        now, callbacks = self.current(), 0
        if self.on_allocation and now and now != self.told:
            self.told = now
            self.on_allocation(now)
            callbacks += 1
        asked = self.next_checkpoint()
        if asked:
            self.on_checkpoint(*asked)
            callbacks += 1
        return callbacks


_environment = os.environ
_governed = "SCHEDGOV_ALLOCATION" in _environment or "SCHEDGOV_JOB_ID" in _environment
# NOTIFY_SOCKET alone means nothing: a service of systemd's has one, too.
_address = _environment.get("NOTIFY_SOCKET", "") if _governed else ""
_path = _environment.get("SCHEDGOV_ALLOCATION", "")
_teller = _Teller(_address) if len(_address) > 1 and _address[0] in "/@" else None
_watch = _Watch(_path) if _path.startswith("/") else None

if _teller:
    os.register_at_fork(after_in_child=_teller.renew)
    # Who has gone can't be told from others by who receives what it said last.
    atexit.register(lambda: _teller.pid == os.getpid() and _teller.flush(_EXIT_SECONDS))


def governed() -> bool:
    """Whether this is a governed job."""
    return _governed


def _tell(urgent=False, **values):
    said = {k: v for k, v in values.items() if v is not None}
    return _teller.tell(said, urgent) if _teller and said else False


def _eval(value):
    if value is None:
        return None
    value = float(value)
    return repr(value) if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _count(value):
    return None if value is None else max(0, int(value))


def progress(eval: Optional[float], step: Optional[int] = None, total: Optional[int] = None) -> bool:
    """The evaluation function (a loss, an accuracy), the step that has just been done, and how many there
    will be; None = not known. Cheap enough for every step: of what comes faster than 20 times a second the
    newest is kept and sent later."""
    return _tell(SCHEDGOV_EVAL=_eval(eval), STEP=_count(step), TOTAL_STEPS=_count(total) or None)


def step(step: int, total: Optional[int] = None) -> bool:
    """Without an evaluation."""
    return progress(None, step, total)


def epoch(eval: Optional[float], epoch: int, epochs: Optional[int] = None, step: Optional[int] = None,
          total: Optional[int] = None) -> bool:
    """Where steps are counted within epochs, which count from 1."""
    return _tell(SCHEDGOV_EVAL=_eval(eval), EPOCH=_count(epoch), EPOCHS=_count(epochs) or None,
                 STEP=_count(step), TOTAL_STEPS=_count(total) or None)


def status(text: str) -> bool:
    """One line for people, shown by `schedctl status`."""
    line = " ".join(text.splitlines()).encode("utf-8", "replace")[:_STATUS_MAX]
    return _tell(STATUS=line.decode("utf-8", "ignore"))


def checkpointed() -> bool:
    """The checkpoint that was asked for is complete and durable."""
    return _tell(True, SCHEDGOV_CHECKPOINTED=1)


def allocation_signal(signal: int) -> bool:
    """Has this process sent that signal whenever the allocation changes; 0 = no more."""
    return _tell(True, SCHEDGOV_ALLOCATION_SIGNAL=int(signal))


def flush(seconds: float = 1.0) -> bool:
    """Waits until the governor has seen everything, at most so long. Done at exit, for a fifth of a second."""
    return _teller.flush(seconds) if _teller else False


def dropped() -> int:
    """Reports that were replaced by newer ones before they could be sent."""
    return _teller.dropped if _teller else 0


def allocation() -> Optional[Allocation]:
    """What holds now; None where nothing is known."""
    return _watch.current() if _watch else None


def threads(otherwise: int) -> int:
    """The allocation's threads, or `otherwise` where nothing is known."""
    now = allocation()
    return now.threads if now else otherwise


def on_allocation(callback: Optional[Callable[[Allocation], None]]) -> None:
    """Called by dispatch(), once at first and then whenever the allocation has changed."""
    if _watch:
        _watch.on_allocation, _watch.told = callback, None


def on_checkpoint(callback: Optional[Callable[[int, str], None]]) -> None:
    """Called by dispatch() with an id and a reason when a checkpoint is asked for; see checkpointed()."""
    if _watch:
        _watch.on_checkpoint = callback


def dispatch() -> int:
    """Looks, and calls back, in this thread: how many times it did. Costs some microseconds."""
    return _watch.dispatch() if _watch else 0
