"""Recognizes checkpoint paths that change on every start, or that are in a temporary directory.

Only signs that a fixed name hardly ever has count: a whole date, not a year (`orders-2024`), an id
as machines make it, not a number (`v2`, `run-7`). The bucket or host of a URL is left out, because
many are named with an id once.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from holdfast.errors import ProjectError, UsageError
from holdfast.storage.location import shown_url
from holdfast.wording import nearest

DATED, GENERATED, TEMPORARY = "dated-path", "generated-path", "temporary-path"
ACCEPTANCES = (DATED, GENERATED, TEMPORARY)
"""The names by which a path is accepted as it is."""
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]+):(?://[^/]*)?(?P<path>.*)", re.DOTALL)
_DAY = r"(?:19|20)\d\d{0}(?:0[1-9]|1[0-2]){0}(?:0[1-9]|[12]\d|3[01])"
_HEX = "[0-9a-fA-F]"

_PATTERNS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        GENERATED,
        "a UUID",
        re.compile(rf"(?<!{_HEX}){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?!{_HEX})"),
    ),
    (
        GENERATED,
        "a run id",
        re.compile(
            r"application_\d+_\d+|(?<![A-Za-z])(?:app|driver)-\d{14}-\d{4}|"
            r"(?<![A-Za-z])local-\d{13}(?!\d)|"
            rf"(?<![A-Za-z])(?:run|spark|attempt)(?:[-_]?id)?[-_=](?={_HEX}*\d){_HEX}{{6,}}"
            r"(?![0-9A-Za-z])",
            re.IGNORECASE,
        ),
    ),
    (
        GENERATED,
        "a digest",
        re.compile(rf"(?<![0-9A-Za-z])(?=[a-f]*\d)(?=\d*[a-fA-F]){_HEX}{{32,}}(?![0-9A-Za-z])"),
    ),
    (
        DATED,
        "a date",
        re.compile(
            rf"(?<!\d){_DAY.format('-')}(?!\d)|(?<!\d){_DAY.format('_')}(?!\d)|"
            rf"(?<!\d){_DAY.format('[.]')}(?!\d)|"
            rf"(?:(?<=/)|(?<=^)|(?<==)){_DAY.format('/(?:[a-z]+=)?')}(?![^/])|"
            rf"(?<!\d){_DAY.format('')}(?:\d\d(?:\d\d(?:\d\d)?)?)?(?!\d)"
        ),
    ),
    (DATED, "a timestamp in seconds", re.compile(r"(?<!\d)1\d{9}(?:\d{3}){0,3}(?!\d)")),
)
_TEMPORARY_VARIABLE = re.compile(r"\$\{?(?:TMPDIR|TMP|TEMP)\b")
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/var/folders")
_EMPTIED = ("/local_disk0/tmp", "/private/var/folders")
_LOCAL_TMP_SCHEMES = frozenset({"", "file", "hdfs", "dbfs"})


@dataclass(frozen=True)
class _Sign:
    accepted_as: str
    reason: str


def looks_changing(path: str) -> str | None:
    """Say why a path looks as if it changed from start to start; None where it does not."""
    return next((sign.reason for sign in _signs(path)), None)


def accept_changing(path: str, accepted: Collection[str], *, interactive: bool) -> str | None:
    """Return the warning for a path that looks changing, None where it does not or is accepted.

    Without anybody to read a warning it is a ProjectError: the path is fixed or accepted by name.
    """
    for name in accepted:
        if name not in ACCEPTANCES:
            near = nearest(name, ACCEPTANCES)
            hint = f"did you mean {near}?" if near else f"known names: {', '.join(ACCEPTANCES)}"
            raise UsageError("HF1001", f"{name} cannot be accepted: unknown name; {hint}")
    for sign in _signs(path):
        if sign.accepted_as in accepted:
            continue
        message = f"the path looks like it changes on every start: {sign.reason}"
        step = f"write a fixed path, or accept this one by name: {sign.accepted_as}"
        if interactive:
            return f"{message}; {step}"
        raise ProjectError("HF1115", message, at=shown_url(path), next_steps=(step,))
    return None


def emptied_folder(path: str, project: str) -> str | None:
    """Return the temporary folder that a local path is in; None where its whole project is, too.

    Links are followed. A project that is itself in the folder is a demonstration or a test.
    """
    home = os.path.realpath(project)
    folders = [*_TEMPORARY_FOLDERS, *_EMPTIED, os.path.realpath(tempfile.gettempdir())]
    found = next((one for one in folders if _is_in(os.path.realpath(path), one)), None)
    return None if found is None or _is_in(home, found) else found


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _signs(path: str) -> Iterator[_Sign]:
    scheme, within = _split(path)
    if scheme in _LOCAL_TMP_SCHEMES and (folder := _temporary_folder(scheme, within)):
        yield _Sign(TEMPORARY, f"it is in a temporary directory ({folder})")
    for accepted_as, what, pattern in _PATTERNS:
        if found := pattern.search(within):
            yield _Sign(accepted_as, f"it contains {what} ({found[0]})")


def _split(path: str) -> tuple[str, str]:
    """Return the scheme and what follows the host; '' and the whole text for a plain path."""
    url = _URL.fullmatch(path)
    return ("", path) if url is None else (url["scheme"].lower(), url["path"])


def _temporary_folder(scheme: str, path: str) -> str | None:
    if variable := _TEMPORARY_VARIABLE.search(path):
        return variable[0]
    folders = [*_TEMPORARY_FOLDERS]
    if scheme in ("", "file"):
        path = os.path.normpath(path)
        folders += [tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir())]
    path = "/" + path.lstrip("/") if path.startswith("/") else path
    return next((one for one in folders if _is_in(path, one)), None)
