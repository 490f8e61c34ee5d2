"""Names the kind of every file of a checkpoint by its path alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

Files = Mapping[str, bytes]

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
_VERSIONED = rf"{_NUMBER}(?:_{_UUID})?"
_PARTITION = rf"state/{_NUMBER}/{_NUMBER}/(?:[^/]+/)?"

_KINDS: tuple[tuple[str, str], ...] = (
    ("metadata", r"metadata"),
    ("offsets", rf"offsets/{_NUMBER}"),
    ("commits", rf"commits/{_NUMBER}"),
    ("source log", rf"sources/[^/]+/{_NUMBER}(?:\.compact)?"),
    ("operator metadata", rf"state/{_NUMBER}/_metadata/(?:metadata|v2/{_NUMBER})"),
    ("state schema", rf"{_PARTITION}_metadata/schema"),
    ("state schema", rf"state/{_NUMBER}/_stateSchema/[^/]+/{_NUMBER}_{_UUID}"),
    ("Spark checksum", rf"{_PARTITION}{_VERSIONED}\.(?:delta|snapshot|zip|changelog)\.crc"),
    ("delta", rf"{_PARTITION}{_VERSIONED}\.delta"),
    ("snapshot", rf"{_PARTITION}{_VERSIONED}\.snapshot"),
    ("changelog", rf"{_PARTITION}{_VERSIONED}\.changelog"),
    ("zip", rf"{_PARTITION}{_VERSIONED}\.zip"),
    ("SST", rf"{_PARTITION}SSTs/[0-9]+-{_UUID}\.sst"),
)
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _KINDS)

SIDE = "side file"
FOREIGN = "foreign"
STATE_CONTENT = frozenset({"delta", "snapshot", "changelog", "zip", "SST"})
"""Binary state whose content `inspect` does not decode."""

_INITIAL = re.compile(rb"\0|v[0-9]+\n-?[0-9]+$")


def kind_of(path: str) -> str:
    """Name what a file is to Spark; side files and foreign files are read by nobody."""
    name = path.rpartition("/")[2]
    if name.startswith("."):
        return SIDE
    for kind, pattern in _COMPILED:
        if pattern.fullmatch(path):
            return kind
    return FOREIGN


def kinds_in(files: Files) -> dict[str, str]:
    """Name the kind of each file; a source's first offset is told from a file log by its bytes."""
    return {path: _with_content(path, data) for path, data in files.items()}


def _with_content(path: str, data: bytes) -> str:
    kind = kind_of(path)
    if kind == "source log" and _INITIAL.match(data):
        return "initial offset"
    return kind


def side_of(path: str) -> str:
    """Name Hadoop's checksum file of a file."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.crc"


def is_hadoop_side(path: str) -> bool:
    """Tell Hadoop's checksum files from Spark's own, which have no leading dot."""
    name = path.rpartition("/")[2]
    return name.startswith(".") and name.endswith(".crc")


def without_hadoop_sides(files: Files) -> dict[str, bytes]:
    """Give the files as an object store would hold them."""
    return {path: data for path, data in files.items() if not is_hadoop_side(path)}
