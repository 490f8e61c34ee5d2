"""Names inside of logs and state that look like Spark's own, but are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from holdfast.checkpoint.picture import Picture
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.filelog import log_id_of

_LIKE_STATE = re.compile(r"\+?[0-9]+[^/]*\.(?:delta|snapshot|zip|changelog)[^/]*")
_STATE = re.compile(
    r"(?:0|[1-9][0-9]*)(?:_[0-9a-fA-F-]{36})?\.(?:delta|snapshot|zip|changelog)(?:\.crc)?"
)
_NUMBER, _ID = "(?:0|[1-9][0-9]*)", "[0-9a-fA-F-]{36}"
_KNOWN_IN_STATE = re.compile(
    rf"state/{_NUMBER}/(?:_metadata/(?:metadata|v2/{_NUMBER})|_stateSchema/[^/]+/{_NUMBER}_{_ID}"
    rf"|{_NUMBER}/(?:[^/]+/)?(?:_metadata/schema|{_STATE.pattern}|SSTs/[^/]+\.sst|logs/[^/]+))"
    r"(?:\.crc)?"
)
_MOST_NAMED = 20


def check_strange_names(picture: Picture) -> Iterator[Finding]:
    """Report files in logs that are no entries, and state files that bear no plain version."""
    strange = (path for path in picture.layout.besides if _is_strange(picture, path))
    for path in islice(chain(picture.layout.strays, strange), _MOST_NAMED):
        message = f"{path} lies among Spark's own files, but has no name that Spark gives"
        yield Finding("HF2244", Severity.WARNING, message, Place(path))


def unknown_in_state(picture: Picture) -> tuple[str, ...]:
    """Name the files below state/ that are nothing of Spark's, nor look like it."""
    return tuple(
        path
        for path in picture.layout.besides
        if path.startswith("state/")
        and not path.rpartition("/")[2].startswith(".")
        and not _is_strange(picture, path)
        and _KNOWN_IN_STATE.fullmatch(path) is None
    )


def _is_strange(picture: Picture, path: str) -> bool:
    head, _, rest = path.partition("/")
    name = path.rpartition("/")[2]
    if name.startswith("."):
        return False
    if head == "sources":
        folder, _, inner = rest.partition("/")
        is_entry = "/" in inner or log_id_of(inner) is not None
        return folder in picture.source_logs and bool(inner) and not is_entry
    is_like_state = head == "state" and _LIKE_STATE.fullmatch(name) is not None
    return is_like_state and _STATE.fullmatch(name) is None
