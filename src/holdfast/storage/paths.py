"""Paths and URLs: kept inside of their place, and shown to people without secrets."""

from __future__ import annotations

import os
import re
from pathlib import Path

from holdfast.errors import StorageError


def inner_path(path: str, at: str) -> str:
    """Return the path; refuse one that is absolute, empty, or leaves the root."""
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in path or _is_foreign(path):
        raise StorageError("HF7013", "this path does not name a file in the checkpoint", at=at)
    return path


def _is_foreign(path: str) -> bool:
    return os.sep != "/" and (os.sep in path or ":" in path)


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


def is_there(path: Path) -> bool:
    """Return whether something is at a local path; nothing can be where a name is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Return whether a local path is a directory that can be seen."""
    return is_there(path) and path.is_dir()
