"""Fills in `${env:NAME}` and `${file:PATH}`; whatever comes from them is a secret from then on.

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
from holdfast.jobs import tree
from holdfast.jobs.problems import Problem
from holdfast.redaction import excerpt, remember_secret

_REFERENCE = re.compile(r"\$\{(?:env:(?P<env>[A-Za-z_][A-Za-z0-9_]*)|file:(?P<file>[^{}\n]+))\}")
_ANY = re.compile(r"\$\{[^}\n]*\}?")
_LARGEST_FILE = 65_536
_FORMS = "only ${env:NAME} and ${file:PATH} are understood"


def has_reference(text: str) -> bool:
    """Tell whether something is to be filled in."""
    return "${" in text


def fill_in(text: str, *, folder: Path, at: str) -> str:
    """Give the text with every reference replaced by what it names."""
    return _REFERENCE.sub(lambda match: _secret(match, folder, at), text)


def reference_problems(root: tree.Node) -> Iterator[Problem]:
    """Find references that can't be understood, or stand where the text has to be fixed."""
    for path, leaf in tree.leaves(root):
        if isinstance(leaf.value, str) and has_reference(leaf.value):
            yield from _problems_of(path, leaf)
    for path, entry in tree.keys(root):
        if has_reference(entry.key):
            job = len(path) == 2 and path[0] == "jobs"
            what = "the name of a job" if job else "a key"
            code = "HF1108" if job else "HF1107"
            yield Problem(entry.key_mark, code, f"{what} can't be filled in: write it out")


def _problems_of(path: tree.Path, leaf: tree.Leaf) -> Iterator[Problem]:
    if path == ("checkpoints",) or (len(path) == 3 and path[::2] == ("jobs", "checkpoint")):
        message = f"{path[-1]} holds a reference, so the checkpoint could move between two starts"
        yield Problem(leaf.mark, "HF1108", message)
        return
    for found in _ANY.finditer(str(leaf.value)):
        if not _REFERENCE.fullmatch(found[0]):
            message = f"{excerpt(found[0], 60)} is not understood: {_FORMS}"
            yield Problem(leaf.mark, "HF1107", message)


def _secret(match: re.Match[str], folder: Path, at: str) -> str:
    value = _from_environment(match["env"], at) if match["env"] else _from_file(match, folder, at)
    if not value:
        raise ProjectError("HF1107", f"{match[0]} is empty", at=at)
    remember_secret(value)
    return value


def _from_environment(name: str, at: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise ProjectError("HF1107", f"the environment has no variable {name}", at=at)
    return value


def _from_file(match: re.Match[str], folder: Path, at: str) -> str:
    try:
        with (folder / match["file"]).open("rb") as opened:
            data = opened.read(_LARGEST_FILE + 1)
        text = data.decode("utf-8")
    except (OSError, ValueError) as failure:
        reason = (getattr(failure, "strerror", None) or "").lower() or "it is not UTF-8 text"
        message = f"{match[0]} can't be read: {reason}"
        raise ProjectError("HF1107", message, at=at) from failure
    if len(data) > _LARGEST_FILE:
        raise ProjectError("HF1107", f"{match[0]} is larger than 64 KiB", at=at)
    return text.removesuffix("\n").removesuffix("\r")
