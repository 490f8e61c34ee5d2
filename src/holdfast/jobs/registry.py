"""Remembers where each job's checkpoint is: `.holdfast/checkpoints.json` in the project's folder.

It is meant to be committed like a lock file, so that a path which changes by accident is seen by
everybody's next start. A place inside the project's folder is kept relative to it: a clone on
another machine is the same project. Each profile of the project has a list of its own, because dev
and prod run the same jobs at different places.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from holdfast.errors import ProjectError
from holdfast.jobs.ready import ReadyJob
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.location import canonical, shown_path
from holdfast.storage.writing import writing_border

FOLDER = ".holdfast"
FILE = "checkpoints.json"
_LOCK_FILE = ".checkpoints.lock"
"""Empty, and left where it is: who removed it would let two processes hold two locks."""
_VERSION = 1
_VERSION_WITH_PROFILES = 2
"""Kept apart: an older Holdfast would drop the lists of profiles when it writes."""
_LOCAL = "file://"
_lock = threading.Lock()
"""Jobs of one session are started side by side, and each reads the list and writes it again."""

Entries = dict[str, dict[str, str]]
Lists = dict[str | None, Entries]
"""The list of each profile; None is the project without one."""


def remembered_checkpoint(folder: Path, job: str, profile: str | None = None) -> str | None:
    """Return the canonical place of a job's checkpoint at its last start, None before its first."""
    entry = _read(folder).get(profile, {}).get(job)
    return None if entry is None else _absolute(folder, entry["location"])


def check_remembered(job: ReadyJob) -> None:
    """Raise a ProjectError where the job's checkpoint is not where it was at its last start."""
    remembered = remembered_checkpoint(job.folder, job.name, job.profile)
    _compare(job.folder, job.name, remembered, canonical(job.checkpoint), job.at)


def remember_checkpoint(folder: Path, job: str, place: str, profile: str | None = None) -> None:
    """Keep the canonical place of a job's checkpoint; another one than before is a ProjectError."""
    if _is_remembered(folder, job, place, profile):
        return
    with _lock, _locked(folder):
        # Another process may have written meanwhile.
        if _is_remembered(folder, job, place, profile):
            return
        lists = _read(folder)
        since = datetime.now(tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = {"location": _relative(folder, place), "since": since}
        lists.setdefault(profile, {})[job] = entry
        _write(folder, lists)


def move_remembered(folder: Path, job: str, place: str, profile: str | None = None) -> None:
    """Keep another place of a job that is in the list; doing it twice is no error."""
    with _lock, _locked(folder):
        lists = _read(folder)
        entry = lists.get(profile, {}).get(job)
        if entry is None or _absolute(folder, entry["location"]) == place:
            return
        entry["location"] = _relative(folder, place)
        _write(folder, lists)


def _write(folder: Path, lists: Lists) -> None:
    text = json.dumps(_document(lists), indent=2, ensure_ascii=False) + "\n"
    writer = LocalWriter(f"{folder}/{FOLDER}")
    writer.replace(FILE, (text.encode(),))
    writer.settle()


def _document(lists: Lists) -> dict[str, object]:
    bare = dict(sorted(lists.get(None, {}).items()))
    named = {name: dict(sorted(one.items())) for name, one in lists.items() if name is not None}
    if not named:
        return {"version": _VERSION, "checkpoints": bare}
    profiles = dict(sorted(named.items()))
    return {"version": _VERSION_WITH_PROFILES, "checkpoints": bare, "profiles": profiles}


def _is_remembered(folder: Path, job: str, place: str, profile: str | None) -> bool:
    """Whether the job is in the list at this place; raise a ProjectError where it is elsewhere."""
    known = remembered_checkpoint(folder, job, profile)
    _compare(folder, job, known, place, _shown(folder))
    return known is not None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing the list; the system lets go of a process that dies."""
    at = _shown(folder)
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with writing_border(at):
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        lock = _opened_lock(folder / FOLDER / _LOCK_FILE)
    try:
        with writing_border(at):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _opened_lock(file: Path) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except PermissionError:
        # Another user of the project made it; a lock needs no right to write but on NFS.
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC)


def _compare(folder: Path, job: str, remembered: str | None, now: str, at: str) -> None:
    if remembered is None or remembered == now:
        return
    before, after = _relative(folder, remembered), _relative(folder, now)
    message = f"the checkpoint of {job} was at {before} and would now be at {after}"
    steps = (
        f"set the path back to {before}: the checkpoint of a job stays at one location",
        "leave the checkpoint where it is: its records and its sink do not move with it",
    )
    raise ProjectError("HF1114", message, at=at, next_steps=steps)


def _read(folder: Path) -> Lists:
    """Read the list strictly: a broken one would quietly remember nothing."""
    try:
        text = (folder / FOLDER / FILE).read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        raise ProjectError("HF1116", f"it cannot be read: {reason}", at=_shown(folder)) from failure
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise ProjectError("HF1116", "it is not JSON", at=_shown(folder)) from failure
    return _checked(document, folder)


def _checked(document: object, folder: Path) -> Lists:
    entries = document.get("checkpoints") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(entries, Mapping):
        message = "checkpoints, a mapping of jobs, is missing"
        raise ProjectError("HF1116", message, at=_shown(folder))
    if document.get("version") not in (_VERSION, _VERSION_WITH_PROFILES):
        message = "its version is unknown: a newer Holdfast wrote it"
        step = "use the Holdfast release that wrote it, or a newer one"
        raise ProjectError("HF1116", message, at=_shown(folder), next_steps=(step,))
    profiles = document.get("profiles", {})
    if not isinstance(profiles, Mapping):
        raise ProjectError("HF1116", "profiles is not a mapping", at=_shown(folder))
    lists: Lists = {name: _entries(one, folder) for name, one in profiles.items()}
    return {None: _entries(entries, folder), **lists}


def _entries(entries: object, folder: Path) -> Entries:
    if not isinstance(entries, Mapping):
        raise ProjectError("HF1116", "a profile has no mapping of jobs", at=_shown(folder))
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
    """Return the canonical text that `_relative` shortened; links are resolved as they are now."""
    if written.startswith("./"):
        return _LOCAL + os.path.realpath(f"{folder}/{written}")
    return _LOCAL + written if written.startswith("/") else written


def _shown(folder: Path) -> str:
    return shown_path(f"{folder}/{FOLDER}/{FILE}")
