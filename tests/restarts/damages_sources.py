"""Damages to the log of a file source and to the log of a file sink."""

from tests.restarts.bases import Base
from tests.restarts.damage import GARBAGE, Damage, named
from tests.restarts.edits import (
    Edit,
    Files,
    line,
    newest,
    numbers,
    replaced,
    without,
    without_folder,
)

_LOG = "sources/0"
_SINK_LOG = "../output/_spark_metadata"
_SOME = named("stateless", "stateless-pending", "aggregation", "union", "offsets-v2")
_SINK = named("file-sink", "compacted")
_COMPACTED = named("compacted")


def _file_source(base: Base) -> bool:
    return base.source == "file"


def _gone(folder: str, back: int = 0) -> Edit:
    return lambda files: without(files, newest(files, folder, back))


def _content(folder: str, content: bytes, back: int = 0) -> Edit:
    return lambda files: replaced(files, newest(files, folder, back), content)


def _folder_gone(folder: str) -> Edit:
    return lambda files: without_folder(files, folder)


def _file_gone(path: str) -> Edit:
    return lambda files: without(files, path)


def _cut(files: Files) -> Files:
    path = newest(files, _LOG)
    return replaced(files, path, files[path][: len(files[path]) // 2])


def _ahead(files: Files) -> Files:
    number = numbers(files, _LOG)[-1]
    path = f"{_LOG}/{number}"
    entry = line(files, path, 1).replace(b'"batchId":%d' % number, b'"batchId":%d' % (number + 1))
    entry = entry.replace(b"/%d.txt" % number, b"/%d.txt" % (number + 1))
    return {**files, f"{_LOG}/{number + 1}": b"v1\n" + entry}


def _timestamp_ahead(files: Files) -> Files:
    path = newest(files, _LOG)
    return replaced(files, path, files[path].replace(b'"timestamp":1', b'"timestamp":2', 1))


def _sink_ahead(files: Files) -> Files:
    number = numbers(files, _SINK_LOG)[-1]
    return {**files, f"{_SINK_LOG}/{number + 1}": files[f"{_SINK_LOG}/{number}"]}


SOURCE_DAMAGES: tuple[Damage, ...] = (
    Damage(
        "sources-removed", "the folder sources is removed", _file_source, _folder_gone("sources")
    ),
    Damage(
        "source-newest-missing",
        "the newest entry of the source log is removed",
        _file_source,
        _gone(_LOG),
    ),
    Damage(
        "source-two-newest-missing",
        "the newest 2 entries of the source log are removed",
        _SOME,
        lambda files: _gone(_LOG)(_gone(_LOG)(files)),
    ),
    Damage(
        "source-newest-empty",
        "the newest entry of the source log has no bytes",
        _SOME,
        _content(_LOG, b""),
    ),
    Damage(
        "source-newest-version-only",
        "the newest entry of the source log ends after line 1",
        _SOME,
        _content(_LOG, b"v1"),
    ),
    Damage(
        "source-newest-cut", "the newest entry of the source log ends in its middle", _SOME, _cut
    ),
    Damage(
        "source-newest-garbage",
        "the newest entry of the source log holds garbage bytes",
        _SOME,
        _content(_LOG, GARBAGE),
    ),
    Damage(
        "source-newest-version-9",
        "the version line of the newest source log entry is v9",
        _SOME,
        _content(_LOG, b"v9"),
    ),
    Damage(
        "source-older-missing",
        "the third-newest entry of the source log is removed",
        _SOME,
        _gone(_LOG, 2),
    ),
    Damage(
        "source-older-empty",
        "the third-newest entry of the source log has no bytes",
        _SOME,
        _content(_LOG, b"", 2),
    ),
    Damage(
        "source-older-garbage",
        "the third-newest source log entry holds garbage bytes",
        _SOME,
        _content(_LOG, GARBAGE, 2),
    ),
    Damage(
        "source-oldest-missing",
        "the oldest entry of the source log is removed",
        _SOME,
        lambda files: without(files, f"{_LOG}/0"),
    ),
    Damage("source-ahead", "the source log is one entry ahead of the offsets", _SOME, _ahead),
    Damage(
        "source-timestamp-ahead",
        "the timestamp in the newest source log entry is years ahead",
        _SOME,
        _timestamp_ahead,
    ),
    Damage(
        "second-source-removed",
        "the log of the second source is removed",
        named("union"),
        _folder_gone("sources/1"),
    ),
    Damage("sink-log-removed", "the sink's log is removed", _SINK, _folder_gone(_SINK_LOG)),
    Damage(
        "sink-newest-missing",
        "the newest entry of the sink's log is removed",
        _SINK,
        _gone(_SINK_LOG),
    ),
    Damage(
        "sink-newest-empty",
        "the newest entry of the sink's log has no bytes",
        _SINK,
        _content(_SINK_LOG, b""),
    ),
    Damage(
        "sink-newest-garbage",
        "the newest entry of the sink's log holds garbage bytes",
        _SINK,
        _content(_SINK_LOG, GARBAGE),
    ),
    Damage("sink-ahead", "the sink's log is one batch ahead of the offsets", _SINK, _sink_ahead),
    Damage(
        "source-before-compact-missing",
        "an entry that the compact entry repeats is removed",
        _COMPACTED,
        _file_gone(f"{_LOG}/3"),
    ),
    Damage(
        "source-compact-missing",
        "the compact entry of the source log is removed",
        _COMPACTED,
        _file_gone(f"{_LOG}/9.compact"),
    ),
    Damage(
        "source-compact-empty",
        "the compact entry of the source log has no bytes",
        _COMPACTED,
        lambda files: replaced(files, f"{_LOG}/9.compact", b""),
    ),
    Damage(
        "source-after-compact-missing",
        "the entry after the compact entry is removed",
        _COMPACTED,
        _file_gone(f"{_LOG}/10"),
    ),
    Damage(
        "sink-compact-missing",
        "the compact entry of the sink's log is removed",
        _COMPACTED,
        _file_gone(f"{_SINK_LOG}/9.compact"),
    ),
)
