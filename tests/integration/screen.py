# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a program draws on a terminal, as somebody sees it there: enough of vt100 and xterm for
programs that move the cursor, write and erase."""
import fcntl
import os
import re
import select
import struct
import termios

from harness import BUILD, until
from terminal import Terminal

SEQUENCE = re.compile(r"\x1b\[([?>]?)([\d;]*)([@-~])|\x1b[()].|\x1b[=>78cDEHMNOZ]|"
                      r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|([\x00-\x1f])|([^\x00-\x1f\x1b]+)")
INCOMPLETE = re.compile(r"\x1b(\[[?>]?[\d;]*|[()]|\][^\x07\x1b]*\x1b?)?$")


class Screen(Terminal):
    """schedctl, or another program, on a terminal of this size."""

    def __init__(self, g, *args, rows=24, columns=80, term="xterm", locale="C.UTF-8",
                 program=f"{BUILD}/schedctl"):
        super().__init__(g, "sh", "-c", f'stty rows {rows} cols {columns}; exec "$@"', "sh", "env",
                         f"TERM={term}", f"LC_ALL={locale}", program, *args)
        self.rows, self.columns, self.raw, self.left = rows, columns, "", b""
        self.before = termios.tcgetattr(self.fd)
        self.clear()

    def clear(self):
        self.lines = [[" "] * self.columns for _ in range(self.rows)]
        self.y = self.x = 0

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.clear()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def restored(self):
        """Whether its settings are what they were, and the other screen is shown again."""
        self.read(0)
        return termios.tcgetattr(self.fd) == self.before and \
            self.raw.count("\x1b[?1049h") == self.raw.count("\x1b[?1049l")

    # --- what is seen ---

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)

    def line(self, y):
        return "".join(self.lines[y]).rstrip()

    def shows(self, pattern):
        """Waits until the screen matches; the match."""
        def matches():
            self.read(0.05)
            return re.search(pattern, self.text(), re.MULTILINE)
        try:
            return until(matches, pattern)
        except AssertionError as error:
            raise AssertionError(f"{error}: the screen is\n{self.text()}") from None

    def read(self, seconds):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                return
            if not piece:
                return
            self.take(piece)
            seconds = 0

    def take(self, piece):
        data = self.left + piece
        text = data.decode("utf-8", errors="ignore") if len(data) < 4 else None
        for cut in range(4):  # a character may be cut in two
            try:
                text = data[:len(data) - cut].decode("utf-8")
                break
            except UnicodeDecodeError:
                continue
        assert text is not None, data
        rest = INCOMPLETE.search(text)
        if rest:
            text = text[:rest.start()]
        self.left = data[len(text.encode()):]
        self.raw += text
        for match in SEQUENCE.finditer(text):
            self.obey(*match.groups())

    def obey(self, private, numbers, letter, control, plain):
        if plain:
            for c in plain:
                self.put(c)
        elif control:
            self.move_by(control)
        elif letter and not private:
            values = [int(v) if v else 0 for v in numbers.split(";")] if numbers else []
            self.edit(letter, values)

    def put(self, c):
        if self.x == self.columns:  # as terminals do that wrap late
            self.y, self.x = min(self.y + 1, self.rows - 1), 0
        self.lines[self.y][self.x] = c
        self.x += 1
        self.last = c

    def move_by(self, control):
        if control == "\r":
            self.x = 0
        elif control == "\n":
            self.y = min(self.y + 1, self.rows - 1)
        elif control == "\b":
            self.x = max(min(self.x, self.columns - 1) - 1, 0)
        elif control == "\t":
            self.x = min(self.x + 8 - self.x % 8, self.columns - 1)

    def edit(self, letter, values):
        n = max(values[0], 1) if values else 1
        if letter in "Hf":
            self.y = min(n, self.rows) - 1
            self.x = min(max(values[1], 1) if len(values) > 1 else 1, self.columns) - 1
        elif letter == "d":
            self.y = min(n, self.rows) - 1
        elif letter == "G":
            self.x = min(n, self.columns) - 1
        elif letter in "AB":
            self.y = max(0, min(self.rows - 1, self.y + (n if letter == "B" else -n)))
        elif letter in "CD":
            self.x = max(0, min(self.columns - 1, self.x + (n if letter == "C" else -n)))
        elif letter == "b":
            for _ in range(n):
                self.put(self.last)
        elif letter in "XP@":
            self.shift(letter, n)
        elif letter in "KJ":
            self.erase(letter, values[0] if values else 0)
        else:
            assert letter in "mhlrtnc", f"an unknown sequence: {letter} of {values}"

    def shift(self, letter, n):
        """Blanks n characters, deletes them, or makes room for as many."""
        line, blanks = self.lines[self.y], [" "] * n
        head, tail = line[:self.x], line[self.x:]
        tail = {"X": blanks + tail[n:], "P": tail[n:] + blanks, "@": blanks + tail}[letter]
        self.lines[self.y] = (head + tail)[:self.columns]

    def erase(self, letter, what):
        for y in range(self.rows):
            if y != self.y and (letter == "K" or (what == 0 and y < self.y) or
                                (what == 1 and y > self.y)):
                continue
            begin = self.x if y == self.y and what == 0 else 0
            end = self.x + 1 if y == self.y and what == 1 else self.columns
            for x in range(begin, end):
                self.lines[y][x] = " "
