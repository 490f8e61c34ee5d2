"""Names temporary files so that a later run can tell whose they are and that nobody writes them."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import uuid

_NAME = re.compile(r"\.holdfast-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{12}\.tmp")


def host_mark() -> str:
    """Eight characters that tell this machine from others without naming it."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def temporary_name() -> str:
    """Name a temporary file of this process; Spark ignores names that begin with a dot."""
    return f".holdfast-{host_mark()}-{os.getpid()}-{uuid.uuid4().hex[:12]}.tmp"


def is_temporary(path: str) -> bool:
    """Whether a file is a temporary one of ours, whoever writes it."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def is_abandoned(path: str) -> bool:
    """Whether a temporary file was left behind by a process of this machine that is gone."""
    found = _NAME.fullmatch(path.rpartition("/")[2])
    return (
        found is not None
        and found["host"] == host_mark()
        and not process_lives(int(found["process"]))
    )


def process_lives(number: int) -> bool:
    """Whether a process with this number exists on this machine."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
