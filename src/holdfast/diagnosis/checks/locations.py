"""Where a checkpoint lies: a fixed and lasting path, and no twin of it next door."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_SPARKS_OWN = re.compile(rf"temporary-{_UUID}")
_TEMPORARY = re.compile(
    r"/(?:var/)?tmp/|/local_disk0/tmp/|/private/var/folders/|/AppData/Local/Temp/"
)
_CHANGING: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "an application's id",
        re.compile(r"application_[0-9]{10,}_[0-9]+|(?:app|local)-[0-9]{10,}\S*"),
    ),
    ("a random id", re.compile(rf"(?<![0-9a-fA-F]){_UUID}(?![0-9a-fA-F])")),
    ("a time", re.compile(r"(?<![0-9])1[0-9]{9}(?:[0-9]{3})?(?![0-9])")),
    (
        "a date",
        re.compile(
            r"(?<![0-9])20[0-9]{2}([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12][0-9]|3[01])(?![0-9])"
        ),
    ),
)
_UNESCAPED = "_-!.~'()*,;:$&+=@"
"""What a Java URI leaves as it is in a path, beside letters and digits."""

_OF_A_JOB = (
    "declare it under a new name, with a lasting checkpoint and an empty lasting sink; it reads "
    "its sources from the beginning",
    "do not move the checkpoint by hand: a job whose checkpoint is at another path does not start "
    "(HF1114)",
)


def check_is_there(subject: Subject) -> Iterator[Finding]:
    """Report a path at which nothing is; a declared job that never ran has no checkpoint yet."""
    if not subject.is_there and subject.job is None:
        message = "nothing is at this path: a query that is started on it begins at batch 0"
        yield Finding("HF2351", Severity.WARNING, message, Place(""))


def check_fixed_path(subject: Subject) -> Iterator[Finding]:
    """Report what in the path changes from one submission to the next."""
    path = _SPARKS_OWN.sub("", subject.path)
    for what, pattern in _CHANGING:
        found = pattern.search(path)
        if found is not None:
            message = f"the path holds {what}: {found[0]}"
            evidence = {"part": found[0], "looks_like": what}
            yield Finding("HF2301", Severity.WARNING, message, Place(""), evidence)
            return


def check_lasting_place(subject: Subject) -> Iterator[Finding]:
    """Report a place that Spark made up, or that this machine empties."""
    if _SPARKS_OWN.search(subject.path):
        message = "Spark made this place up, because the query named no checkpointLocation"
        yield Finding("HF2302", Severity.WARNING, message, Place(""))
    elif subject.scheme == "file" and _TEMPORARY.search(subject.path):
        # Where a project declares the job, a move by hand is refused at its next start.
        steps = _OF_A_JOB if subject.job is not None else ()
        message = "the folder lies among temporary files"
        yield Finding("HF2302", Severity.INFO, message, Place(""), next_steps=steps)


def check_escaped_twin(subject: Subject) -> Iterator[Finding]:
    """Report a folder at the path under which Spark 2 kept this one."""
    if subject.twin is not None:
        message = f"{subject.twin} is the path under which Spark 2 kept this one"
        yield Finding("HF2305", Severity.FATAL, message, Place(""), {"twin": subject.twin})


def escaped_path(path: str) -> str:
    """Return the path that Spark 2 made of this one: every part of it escaped three times."""
    scheme, divider, rest = path.rpartition("://")
    parts = rest.rstrip("/").split("/")
    return scheme + divider + "/".join(_escaped(_escaped(_escaped(part))) for part in parts)


def _escaped(name: str) -> str:
    """Escape a name as a Java URI does: letters of other alphabets stay."""
    return "".join(
        one if not one.isascii() or one.isalnum() or one in _UNESCAPED else f"%{ord(one):02X}"
        for one in name
    )
