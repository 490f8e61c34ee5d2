"""Shows names and URLs to people: printable on every terminal, and without secrets."""

from __future__ import annotations

import re

_PAIR_VALUE = re.compile(r"([?&#;][^=&#?;/]*=)[^&#;]*")
# A password may hold a slash, so user:password is looked for before the first part of the path.
_USER_INFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]*:/*)(?:[^/@:]*:(?!\d{1,5}(?:/|$))[^@]*|[^/]*)@")


def shown_path(path: str) -> str:
    """Spell a path so that it can be printed: odd bytes and control characters as escapes."""
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(map(_shown_character, path))


def place_within(location: str, path: str) -> str:
    """Spell a path below a location that is fit to be shown already."""
    return f"{location.rstrip('/')}/{shown_path(path)}" if path else location


def shown_url(url: str, *, container: bool = False) -> str:
    """Spell a URL without user info and without the values of its query.

    With `container`, what stands before the @ is Azure's name of the container and stays.
    """
    if not container:
        url = _USER_INFO.sub(r"\1", url)
    return shown_path(_PAIR_VALUE.sub(r"\1***", url))


def _shown_character(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
