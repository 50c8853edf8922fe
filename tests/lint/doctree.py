# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/lint/docs compares: tables in C sources and entries of manual pages, as text.

The sources are in the house's format, so a few patterns find what a table says. A table that isn't
found any more is an error and never an empty one.
"""
import pathlib
import re


class Unreadable(Exception):
    """The sources or pages don't look as expected: the lint has to be changed with them."""


def split_arguments(text):
    """The arguments of a call, of which `text` begins behind the parenthesis; commas in quotes, (),
    [] and {} don't count."""
    found, current, depth, i = [], "", 0, 0
    while i < len(text):
        c = text[i]
        if c == '"':
            end = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, i).end()
            current, i = current + text[i:end], end
            continue
        if c in ")]}" and depth == 0:
            return [*found, current.strip()]
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            found, current = [*found, current.strip()], ""
        else:
            current += c
        i += 1
    raise Unreadable(f"unbalanced: {text[:60]}")


def string_of(argument):
    """The text of C's string literals, one behind the other; None for anything else."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', argument)
    return "".join(parts) if parts and re.fullmatch(r'("(?:[^"\\]|\\.)*"\s*)+', argument) else None


def packed_keys(call):
    """The keys of a json_pack(): they stand where its format has the first of a pair."""
    form, *values = split_arguments(call)
    stack, wants_key = [], False
    for c in string_of(form) or "":
        if c in "{[":
            stack.append(c)
            wants_key = c == "{"
        elif c in "}]":
            stack.pop()
        elif c == "," and stack[-1:] == ["{"]:
            wants_key = True
        elif c.isalpha():
            value = values.pop(0)
            if wants_key and stack[-1:] == ["{"]:
                yield string_of(value)
                wants_key = False


class Tree:
    """The files of a working tree."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.sources_read = {}

    def read(self, path):
        return (self.top / path).read_text(encoding="utf-8")

    def code(self, path):
        """A source without its comments."""
        if path not in self.sources_read:
            self.sources_read[path] = re.sub(r"/\*.*?\*/", "", self.read(path), flags=re.S)
        return self.sources_read[path]

    def sources(self, *tops):
        for top in tops:
            for path in sorted((self.top / top).rglob("*.[ch]")):
                yield str(path.relative_to(self.top))

    def table(self, path, name):
        """What stands between the braces of an array."""
        m = re.search(rf"\b{name}\[[^\]]*\] = \{{\n(.*?)\n\}};", self.code(path), re.S)
        m = m or re.search(rf"\}} {name}\[[^\]]*\] = \{{\n(.*?)\n\}};", self.code(path), re.S)
        m = m or re.search(rf"\b{name}\[[^\]]*\]\s*= \{{(.*?)\}};", self.code(path), re.S)
        if not m:
            raise Unreadable(f"{path} has no table {name}")
        return m[1]

    def find(self, path, pattern, where=None):
        """All that a pattern finds in a source, or in one of its tables; at least one."""
        found = re.findall(pattern, self.code(path) if where is None else self.table(path, where))
        if not found:
            raise Unreadable(f"{path}: nothing looks like {pattern}")
        return found

    def limits(self, column):
        """A column of the table of limits, as it stands there: whose rows options, requests, keys of documents and
        tests have besides their own."""
        path = "lib/proto/limits.h"
        columns = ("kind field tag unit option request document class_key label help controller v1_file v2_file v2_key "
                   "most property").split()
        text = self.code(path).replace("\\\n", "")
        rows = [split_arguments(text[m.end():]) for m in re.finditer(r"\bX\((?=[A-Z_]+,)", text)]
        if not rows or any(len(row) != len(columns) for row in rows):
            raise Unreadable(f"{path} isn't the table of limits that it was")
        return [row[columns.index(column)].strip('"') for row in rows]

    def page(self, name):
        return Page(f"docs/{name}.scd", self.read(f"docs/{name}.scd"))

    def pages(self):
        return [self.page(p.name[:-len(".scd")]) for p in sorted((self.top / "docs").glob("*.scd"))]


class Entry:
    """A line with what is indented below it."""

    def __init__(self, section, term):
        self.section, self.term, self.body = section, term, ""

    def words(self):
        """The bold words of the line that it begins with."""
        return " ".join(bold(self.term)).split()

    def options(self, body=False):
        """Those that begin with a dash."""
        text = self.term + self.body if body else self.term
        return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", " ".join(bold(text))))


def plain(text):
    return text.replace("\\", "")


def bold(text):
    return [plain(b) for b in re.findall(r"\*((?:[^*\\\n]|\\.)+)\*", text)]


def emphasised(text):
    return [plain(e) for e in re.findall(r"(?<!\w)_((?:[^_\\\n]|\\.|_(?=\w))+)_(?!\w)", text)]


class Page:
    """A page in scdoc's language."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.blocks, self.entries, self.rows = [], [], []
        self._read()

    def _read(self):
        section, entry, block = "", None, None
        for line in self.text.split("\n"):
            if line.startswith("```"):
                if block is not None:
                    self.blocks.append((section, "\n".join(block)))
                block = [] if block is None else None
            elif block is not None:
                block.append(line)
            elif line.startswith("#"):
                section, entry = line.lstrip("# "), None
            elif entry and (line.startswith("\t") or entry.body.endswith("++\n")):
                entry.body += line + "\n"
            elif re.match(r"[|\]:\[][\[\]<=>|: -]", line):
                if line[0] != ":":
                    self.rows.append((section, []))
                self.rows[-1][1].append(line[2:].strip())
            elif line:
                entry = Entry(section, line)
                self.entries.append(entry)
        self.entries = [e for e in self.entries if e.body]

    def section(self, *names):
        found = [e for e in self.entries if e.section in names]
        if not found:
            raise Unreadable(f"{self.path} has no entries below {', '.join(names)}")
        return found

    def entry(self, section, word):
        for e in self.section(section):
            if word in e.words():
                return e
        raise Unreadable(f"{self.path}: {section} has no entry {word}")

    def table(self, section):
        """The rows of a section's tables, headings left out: lists of cells, the first plain."""
        found = [[plain(cells[0]).strip("*"), *cells[1:]] for s, cells in self.rows
                 if s == section and cells[0].startswith("*")]
        if not found:
            raise Unreadable(f"{self.path} has no table below {section}")
        return [cells for cells in found if not cells[1].startswith("*")]
