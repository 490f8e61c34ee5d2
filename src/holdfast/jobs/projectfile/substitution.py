"""Fills in `${env:NAME}` and `${file:PATH}`; what comes from them is mostly a secret from then on.

It is none in a path, in the name of a table or topic, in a host or as a number: those have to be
shown to people, and read without being asked for. A path that looks as if it held a secret (a URL
with a password) is treated as one. Urls, and every other option of a connector, are secrets.

A file is looked for from the project's folder, and one line end at its end does not count. What
is filled in is not looked at again, there is no other form and no default. References are checked
when the project is read, and filled in only when the value is used: to look at a checkpoint
nobody needs the password of a sink.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from holdfast.errors import ProjectError
from holdfast.jobs.projectfile import tree
from holdfast.jobs.projectfile.tree import Problem
from holdfast.redaction import excerpt, looks_secret, names_secret, remember_secret

_REFERENCE = re.compile(r"\$\{(?:env:(?P<env>[A-Za-z_][A-Za-z0-9_]*)|file:(?P<file>[^{}\n]+))\}")
_ANY = re.compile(r"\$\{[^}\n]*\}?")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?:\}|:?-)")
"""How a shell writes an environment variable, also with a default."""
_LARGEST_FILE = 65_536
_SHOWN_KEYS = frozenset({"path", "table"})
_SHOWN_OPTIONS = frozenset(
    {"path", "table", "dbtable", "topic", "subscribe", "subscribepattern", "assign"}
    | {"kafka.bootstrap.servers"}
)
"""Options of sources and sinks that name a place, a table, topics or hosts."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_HOST = re.compile(r"[A-Za-z0-9._-]+(?::\d+)?")
_FORMS = "only ${env:NAME} and ${file:PATH} are supported"


def has_reference(text: str) -> bool:
    """Return whether something is to be filled in."""
    return "${" in text


def fill_in(text: str, *, folder: Path, at: str, path: tree.Path = ()) -> str:
    """Return the text with every reference replaced by what it names; `path` is where it stands."""
    values: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        values.append(_value(match, folder, at))
        return values[-1]

    filled = _REFERENCE.sub(replaced, text)
    if _is_secret(filled, path):
        for value in values:
            remember_secret(value)
    return filled


def is_shown(path: tree.Path) -> bool:
    """Return whether a value at this path of the file is shown: a place, a name or a host."""
    match path:
        case ("spark", "master") | ("spark", "jars", _):
            return True
        case ("jobs", _, "source" | "sink", key) | ("jobs", _, "sources", _, key):
            return key in _SHOWN_KEYS
        case ("jobs", _, "source" | "sink", "options", name) | (
            "jobs", _, "sources", _, "options", name,
        ):  # fmt: skip
            return str(name).lower() in _SHOWN_OPTIONS
    return False


def _is_secret(filled: str, path: tree.Path) -> bool:
    if is_shown(path):
        return looks_secret(filled)
    match path:
        case ("spark", "conf", name) | ("jobs", _, "conf", name):
            return names_secret(str(name)) or not _NUMBER.fullmatch(filled)
        case ("storage", _, "endpoint"):
            return not _HOST.fullmatch(filled)
    return True


def reference_problems(root: tree.Node) -> Iterator[Problem]:
    """Find references that can't be understood, or stand where the text has to be fixed."""
    for path, leaf in tree.leaves(root):
        if isinstance(leaf.value, str) and has_reference(leaf.value):
            yield from _problems_of(path, leaf)
    for path, entry in tree.keys(root):
        if has_reference(entry.key):
            within = _within_profile(path)
            job = len(within) == 2 and within[0] == "jobs"
            what = "the name of a job" if job else "a key"
            code = "HF1108" if job else "HF1107"
            yield Problem(entry.key_mark, code, f"{what} cannot contain a reference: write it out")


def _within_profile(path: tree.Path) -> tree.Path:
    """Return a path as it is in the file with its profile laid over the rest."""
    return path[2:] if path[0] == "profiles" else path


def _problems_of(path: tree.Path, leaf: tree.Leaf) -> Iterator[Problem]:
    path = _within_profile(path)
    if path == ("checkpoints",) or (len(path) == 3 and path[::2] == ("jobs", "checkpoint")):
        message = (
            f"{path[-1]} contains a reference, so the checkpoint could move between two starts"
        )
        yield Problem(leaf.mark, "HF1108", message)
        return
    for found in _ANY.finditer(str(leaf.value)):
        if not _REFERENCE.fullmatch(found[0]):
            message = f"{excerpt(found[0], 60)} is not supported: {_FORMS}"
            yield Problem(leaf.mark, "HF1107", message, next_steps=(_written_as(found[0]),))


def _written_as(reference: str) -> str:
    """Return how to write a reference that is not understood."""
    if (named := _VARIABLE.match(reference)) is None:
        return "write ${env:NAME} for an environment variable, or ${file:PATH} for a file"
    default = "; there is no default value" if ":" in reference else ""
    return f"write ${{env:{named[1]}}} for the environment variable {named[1]}{default}"


def _value(match: re.Match[str], folder: Path, at: str) -> str:
    value = _from_environment(match["env"], at) if match["env"] else _from_file(match, folder, at)
    if not value:
        raise ProjectError("HF1107", f"{match[0]} is empty", at=at)
    return value


def _from_environment(name: str, at: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise ProjectError("HF1107", f"the environment variable {name} is not set", at=at)
    return value


def _from_file(match: re.Match[str], folder: Path, at: str) -> str:
    try:
        with (folder / match["file"]).open("rb") as opened:
            data = opened.read(_LARGEST_FILE + 1)
        text = data.decode("utf-8")
    except (OSError, ValueError) as failure:
        reason = (getattr(failure, "strerror", None) or "").lower() or "it is not UTF-8 text"
        message = f"{match[0]} cannot be read: {reason}"
        raise ProjectError("HF1107", message, at=at) from failure
    if len(data) > _LARGEST_FILE:
        raise ProjectError("HF1107", f"{match[0]} is larger than 64 KiB", at=at)
    return text.removesuffix("\n").removesuffix("\r")
