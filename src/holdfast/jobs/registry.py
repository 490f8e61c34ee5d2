"""Remembers where each job's checkpoint is: `.holdfast/checkpoints.json` in the project's folder.

It is meant to be committed like a lock file, so that a path which changes by accident is seen by
everybody's next start. A place inside the project's folder is kept relative to it: a clone on
another machine is the same project.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from holdfast.errors import ProjectError
from holdfast.jobs.ready import ReadyJob
from holdfast.storage.canonical import canonical
from holdfast.storage.showing import shown_path
from holdfast.storage.writinglocal import LocalWriter

FOLDER = ".holdfast"
FILE = "checkpoints.json"
_VERSION = 1
_LOCAL = "file://"
_lock = threading.Lock()
"""Jobs of one session are started side by side, and each reads the list and writes it anew."""

Entries = dict[str, dict[str, str]]


def remembered_checkpoint(folder: Path, job: str) -> str | None:
    """Give the canonical place of a job's checkpoint at its last start, None before its first."""
    entry = _read(folder).get(job)
    return None if entry is None else _absolute(folder, entry["location"])


def check_remembered(job: ReadyJob) -> None:
    """Raise a ProjectError where the job's checkpoint is not where it was at its last start."""
    remembered = remembered_checkpoint(job.folder, job.name)
    _compare(job.folder, job.name, remembered, canonical(job.checkpoint), job.at)


def remember_checkpoint(folder: Path, job: str, place: str) -> None:
    """Keep the canonical place of a job's checkpoint; another one than before is a ProjectError."""
    with _lock:
        entries = _read(folder)
        if job in entries:
            known = _absolute(folder, entries[job]["location"])
            _compare(folder, job, known, place, _shown(folder))
            return
        since = datetime.now(tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        entries[job] = {"location": _relative(folder, place), "since": since}
        document = {"version": _VERSION, "checkpoints": dict(sorted(entries.items()))}
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        writer = LocalWriter(f"{folder}/{FOLDER}")
        writer.replace(FILE, (text.encode(),))
        writer.settle()


def _compare(folder: Path, job: str, remembered: str | None, now: str, at: str) -> None:
    if remembered is None or remembered == now:
        return
    before, after = _relative(folder, remembered), _relative(folder, now)
    message = f"the checkpoint of {job} was at {before} and would now be at {after}"
    steps = (
        f"put {before} back: the checkpoint of a job is at one place for ever",
        "a checkpoint is moved by a plan, so that its records and its sink move with it",
    )
    raise ProjectError("HF1114", message, at=at, next_steps=steps)


def _read(folder: Path) -> Entries:
    """Read the list strictly: a broken one would quietly remember nothing."""
    try:
        text = (folder / FOLDER / FILE).read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        raise ProjectError("HF1116", f"it can't be read: {reason}", at=_shown(folder)) from failure
    try:
        document = json.loads(text)
    except ValueError as failure:
        raise ProjectError("HF1116", "it is not JSON", at=_shown(folder)) from failure
    return _checked(document, folder)


def _checked(document: object, folder: Path) -> Entries:
    entries = document.get("checkpoints") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(entries, Mapping):
        message = "it lacks checkpoints: a mapping of jobs"
        raise ProjectError("HF1116", message, at=_shown(folder))
    if document.get("version") != _VERSION:
        message = f"its version is not {_VERSION}: another Holdfast wrote it"
        step = "run the Holdfast that wrote it, or a newer one"
        raise ProjectError("HF1116", message, at=_shown(folder), next_steps=(step,))
    for job, entry in entries.items():
        whole = isinstance(entry, Mapping) and {*map(type, entry.values())} == {str}
        if not whole or not entry.get("location"):
            message = f"the entry of {job} names no location"
            raise ProjectError("HF1116", message, at=_shown(folder))
    return {job: dict(entry) for job, entry in entries.items()}


def _relative(folder: Path, place: str) -> str:
    root = os.path.realpath(folder)
    inside = place.removeprefix(f"{_LOCAL}{root.rstrip('/')}/")
    if inside != place:
        return f"./{inside}"
    return place.removeprefix(_LOCAL)


def _absolute(folder: Path, written: str) -> str:
    """Give back the canonical text that `_relative` shortened; a link on the way counts as now."""
    if written.startswith("./"):
        return _LOCAL + os.path.realpath(f"{folder}/{written}")
    return _LOCAL + written if written.startswith("/") else written


def _shown(folder: Path) -> str:
    return shown_path(f"{folder}/{FOLDER}/{FILE}")
