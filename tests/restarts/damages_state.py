"""Damages to the state folder: versions, schemas and operator metadata."""

import re

from tests.restarts.damage import (
    GARBAGE,
    Damage,
    either,
    hdfs_state,
    named,
    rocksdb_state,
    stateful,
)
from tests.restarts.edits import Edit, Files, replaced, with_stale_checksum, without, without_folder

_OPERATOR = "state/0/_metadata/metadata"
_SCHEMA = "state/0/0/_metadata/schema"
_STATE_FILE = re.compile(r"state/0/0/(\d+)(_[0-9a-f-]+)?\.(delta|zip|changelog)$")
_FIRST = named("aggregation", "rocksdb")


def state_files(files: Files) -> list[str]:
    """The paths of the versions of partition 0 of operator 0, oldest first."""
    found = [path for path in files if _STATE_FILE.match(path)]
    return sorted(found, key=lambda path: int(path.rpartition("/")[2].split("_")[0].split(".")[0]))


def _version_gone(index: int) -> Edit:
    return lambda files: without(files, state_files(files)[index])


def _version(index: int, content: bytes) -> Edit:
    return lambda files: replaced(files, state_files(files)[index], content)


def _version_cut(files: Files) -> Files:
    path = state_files(files)[-1]
    return replaced(files, path, files[path][: len(files[path]) // 2])


def _version_flipped(files: Files) -> Files:
    path = state_files(files)[-1]
    content = bytearray(files[path])
    content[len(content) // 2] ^= 0x10
    return with_stale_checksum(files, path, bytes(content))


def _version_ahead(files: Files) -> Files:
    path = state_files(files)[-1]
    version = int(path.rpartition("/")[2].split(".")[0])
    return {**files, f"state/0/0/{version + 1}.delta": files[path]}


def _removed(path: str) -> Edit:
    return lambda files: without(files, path)


def _content(path: str, content: bytes) -> Edit:
    return lambda files: replaced(files, path, content) if path in files else files


def _folder_gone(folder: str) -> Edit:
    return lambda files: without_folder(files, folder)


def _operator_renamed(files: Files) -> Files:
    if _OPERATOR not in files:
        return files
    renamed = files[_OPERATOR].replace(b"stateStoreSave", b"dedupe")
    return replaced(files, _OPERATOR, renamed)


def _ssts_gone(files: Files) -> Files:
    found = [path for path in files if path.startswith("state/0/0/SSTs/") and path.endswith(".sst")]
    return without(files, *found)


STATE_DAMAGES: tuple[Damage, ...] = (
    Damage("state-removed", "the folder state is removed", stateful, _folder_gone("state")),
    Damage(
        "state-operator-removed",
        "the folder state is empty",
        _FIRST,
        lambda files: {**without_folder(files, "state"), "state/": b""},
    ),
    Damage(
        "state-partition-removed",
        "the folder of partition 1 is removed",
        stateful,
        _folder_gone("state/0/1"),
    ),
    Damage(
        "state-partition-0-removed",
        "the folder of partition 0, with the schema, is removed",
        stateful,
        _folder_gone("state/0/0"),
    ),
    Damage(
        "state-partition-added",
        "the folder of a partition 7 exists",
        _FIRST,
        lambda files: {**files, "state/0/7/": b""},
    ),
    Damage(
        "state-newest-missing",
        "the newest version of partition 0 is removed",
        stateful,
        _version_gone(-1),
    ),
    Damage(
        "state-newest-empty",
        "the newest version of partition 0 has no bytes",
        stateful,
        _version(-1, b""),
    ),
    Damage(
        "state-newest-cut",
        "the newest version of partition 0 ends in its middle",
        stateful,
        _version_cut,
    ),
    Damage(
        "state-newest-garbage",
        "the newest version of partition 0 holds garbage bytes",
        stateful,
        _version(-1, GARBAGE),
    ),
    Damage(
        "state-newest-flipped",
        "a bit of the newest version of partition 0 is flipped, checksums stay",
        stateful,
        _version_flipped,
    ),
    Damage(
        "state-second-newest-missing",
        "the second-newest version of partition 0 is removed",
        stateful,
        _version_gone(-2),
    ),
    Damage(
        "state-oldest-missing",
        "the oldest version of partition 0 is removed, no snapshot exists",
        stateful,
        _version_gone(0),
    ),
    Damage(
        "state-oldest-empty",
        "the oldest version of partition 0 has no bytes",
        hdfs_state,
        _version(0, b""),
    ),
    Damage(
        "state-version-ahead",
        "a delta of one version ahead exists in partition 0",
        hdfs_state,
        _version_ahead,
    ),
    Damage(
        "state-ssts-missing", "the SST files of partition 0 are removed", rocksdb_state, _ssts_gone
    ),
    Damage(
        "operator-metadata-removed",
        "the operator's metadata is removed",
        stateful,
        _folder_gone("state/0/_metadata"),
    ),
    Damage(
        "operator-metadata-empty",
        "the operator's metadata has no bytes",
        _FIRST,
        _content(_OPERATOR, b""),
    ),
    Damage(
        "operator-metadata-garbage",
        "the operator's metadata holds garbage bytes",
        _FIRST,
        _content(_OPERATOR, GARBAGE),
    ),
    Damage(
        "operator-metadata-renamed",
        "the operator's metadata names another operator",
        _FIRST,
        _operator_renamed,
    ),
    Damage("schema-removed", "the state's schema is removed", stateful, _removed(_SCHEMA)),
    Damage("schema-empty", "the state's schema has no bytes", _FIRST, _content(_SCHEMA, b"")),
    Damage(
        "schema-garbage",
        "the state's schema holds garbage bytes",
        either(_FIRST),
        _content(_SCHEMA, GARBAGE),
    ),
)
