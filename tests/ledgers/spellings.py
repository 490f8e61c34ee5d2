"""Spells JSON in every way that is legal on one line, for tests of what reads it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

BLANKS = st.text(" \t\r", max_size=2)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "/": "\\/"}


@st.composite
def spelled(draw: st.DrawFn, value: Any) -> str:
    """Spell one value: blanks, the order of keys, escapes and forms of numbers."""
    if isinstance(value, dict):
        names = draw(st.permutations(list(value)))
        members = [
            f"{draw(_text(name))}{draw(BLANKS)}:{draw(BLANKS)}{draw(spelled(value[name]))}"
            for name in names
        ]
        return draw(_within("{", members, "}"))
    if isinstance(value, list):
        return draw(_within("[", [draw(spelled(one)) for one in value], "]"))
    if isinstance(value, str):
        return draw(_text(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    exact = abs(value) < 2**53
    return draw(
        st.sampled_from([f"{value}", f"{value}.0", f"{value}e0"] if exact else [f"{value}"])
    )


@st.composite
def spelled_lines(draw: st.DrawFn, actions: list[Any]) -> bytes:
    """Spell the actions of a version: also with empty lines, and with or without a last break."""
    lines = [draw(BLANKS) + draw(spelled(one)) + draw(BLANKS) for one in actions]
    for place in draw(st.lists(st.integers(0, len(lines)), max_size=2)):
        lines.insert(place, draw(BLANKS))
    return ("\n".join(lines) + draw(st.sampled_from(["", "\n", "\r\n"]))).encode()


@st.composite
def _within(draw: st.DrawFn, opening: str, members: list[str], closing: str) -> str:
    inner = ",".join(f"{draw(BLANKS)}{one}{draw(BLANKS)}" for one in members)
    return f"{opening}{inner or draw(BLANKS)}{closing}"


@st.composite
def _text(draw: st.DrawFn, text: str) -> str:
    escaped = draw(st.sets(st.integers(0, max(len(text) - 1, 0)), max_size=3))
    whole = draw(st.booleans()) and draw(st.booleans())
    letters = [
        draw(_letter(letter)) if whole or place in escaped else _as_needed(letter)
        for place, letter in enumerate(text)
    ]
    return f'"{"".join(letters)}"'


@st.composite
def _letter(draw: st.DrawFn, letter: str) -> str:
    units = letter.encode("utf-16-be")
    pairs = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    upper = draw(st.booleans())
    escape = "".join(f"\\u{one.upper() if upper else one}" for one in pairs)
    return draw(st.sampled_from([escape, _SHORT.get(letter, escape)]))


def _as_needed(letter: str) -> str:
    if letter == "/":
        return letter
    return _SHORT.get(letter) or (f"\\u{ord(letter):04x}" if letter < " " else letter)
