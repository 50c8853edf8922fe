# SPDX-License-Identifier: LGPL-2.1-or-later
"""Assertions that say what they are about: each prints what it got, what it wanted, and `what` that is, in plain words ("status of the
cancelled job"). An `assert` of Python's own has a message, too, which tests/lint/asserts looks after.
"""

SHOWN_MAX = 6000  # characters of a value; of more its beginning and its end


def shown(value):
    """Text of several lines as it is, indented; all else as Python writes it."""
    text = value if isinstance(value, str) and "\n" in value.rstrip("\n") else repr(value)
    if len(text) > SHOWN_MAX:
        text = f"{text[:SHOWN_MAX // 2]}\n[... {len(text) - SHOWN_MAX} characters ...]\n{text[-SHOWN_MAX // 2:]}"
    return text.replace("\n", "\n" + 13 * " ")


def fail(what, got, relation, want):
    raise AssertionError(f"{what}\n    {'got':9}{shown(got)}\n    {relation:9}{shown(want)}")


def same(got, want, what):
    if not got == want:
        fail(what, got, "wanted", want)


def differs(got, unwanted, what):
    if not got != unwanted:
        fail(what, got, "not", unwanted)


def empty(got, what):
    """Nothing, or nothing in it."""
    if got:
        fail(what, got, "wanted", None)


def has(whole, part, what):
    if part not in whole:
        fail(what, whole, "with", part)


def lacks(whole, part, what):
    if part in whole:
        fail(what, whole, "without", part)


def one_of(got, allowed, what):
    if got not in allowed:
        fail(what, got, "one of", allowed)


def none_of(got, refused, what):
    if got in refused:
        fail(what, got, "none of", refused)


def below(got, bound, what):
    if not got < bound:
        fail(what, got, "below", bound)


def at_most(got, bound, what):
    if not got <= bound:
        fail(what, got, "at most", bound)


def above(got, bound, what):
    if not got > bound:
        fail(what, got, "above", bound)


def at_least(got, bound, what):
    if not got >= bound:
        fail(what, got, "at least", bound)


def within(got, least, most, what):
    """Bounds included."""
    if not least <= got <= most:
        fail(what, got, "within", (least, most))
