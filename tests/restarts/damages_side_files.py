"""Damages beside the entries: checksums, left-over files and names that are no batch."""

from tests.restarts.damage import Damage, either, named
from tests.restarts.edits import Edit, Files, newest, numbers, side_files, with_stale_checksum

_SOME = named("stateless", "aggregation")
_MORE = either(_SOME, named("stateless-pending", "rocksdb", "offsets-v2", "file-sink"))
_CHECKSUM = b"crc\x00\x00\x00\x02\x00\x00\x00\x00\x00"


def _checksum_only(folder: str, ahead: int) -> Edit:
    """The `.crc` of an entry that does not exist."""

    def edit(files: Files) -> Files:
        number = numbers(files, folder)[-1] + ahead
        kept = {path: text for path, text in files.items() if path != f"{folder}/{number}"}
        return {**kept, side_files(f"{folder}/{number}")[0]: _CHECKSUM}

    return edit


def _stale(folder: str, old: bytes, new: bytes) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, folder)
        return with_stale_checksum(files, path, files[path].replace(old, new, 1))

    return edit


def _no_checksums(files: Files) -> Files:
    return {path: content for path, content in files.items() if not path.endswith(".crc")}


def _named(name: str, folder: str = "offsets") -> Edit:
    """A copy of the newest entry under another name."""
    return lambda files: {**files, f"{folder}/{name}": files[newest(files, folder)]}


def _directory(folder: str, ahead: int) -> Edit:
    return lambda files: {**files, f"{folder}/{numbers(files, folder)[-1] + ahead}/": b""}


def _directory_instead(files: Files) -> Files:
    path = newest(files, "offsets")
    kept = {name: content for name, content in files.items() if name != path}
    return {**kept, f"{path}/": b""}


SIDE_DAMAGES: tuple[Damage, ...] = (
    Damage(
        "crc-ahead-in-offsets",
        "offsets/.N+1.crc exists without offsets/N+1",
        _MORE,
        _checksum_only("offsets", 1),
    ),
    Damage(
        "crc-ahead-in-commits",
        "commits/.N+1.crc exists without commits/N+1",
        _MORE,
        _checksum_only("commits", 1),
    ),
    Damage(
        "crc-left-in-offsets",
        "offsets/N is removed and its .crc stays",
        named("stateless-pending", "stateless"),
        _checksum_only("offsets", 0),
    ),
    Damage(
        "crc-left-in-commits",
        "the newest commit is removed and its .crc stays",
        _MORE,
        _checksum_only("commits", 0),
    ),
    Damage(
        "crc-ahead-in-sources",
        "the .crc of the next source log entry exists without it",
        named("stateless", "aggregation", "union"),
        _checksum_only("sources/0", 1),
    ),
    Damage(
        "crc-stale-in-offsets",
        "the watermark in offsets/N is changed, its .crc is not",
        _MORE,
        _stale("offsets", b'"batchWatermarkMs":0', b'"batchWatermarkMs":1'),
    ),
    Damage(
        "crc-stale-in-commits",
        "the watermark in the newest commit is changed, its .crc is not",
        _MORE,
        _stale("commits", b'"nextBatchWatermarkMs":0', b'"nextBatchWatermarkMs":1'),
    ),
    Damage(
        "crc-stale-in-sources",
        "a digit in the newest source log entry is changed, not its .crc",
        named("stateless", "stateless-pending"),
        _stale("sources/0", b'000,"batchId"', b'001,"batchId"'),
    ),
    Damage("no-checksums", "every .crc file is removed", _MORE, _no_checksums),
    Damage(
        "directory-ahead-in-offsets",
        "a directory offsets/N+5 exists",
        _SOME,
        _directory("offsets", 5),
    ),
    Damage(
        "directory-next-in-offsets",
        "a directory offsets/N+1 exists",
        _SOME,
        _directory("offsets", 1),
    ),
    Damage(
        "directory-ahead-in-commits",
        "a directory commits/N+5 exists",
        _SOME,
        _directory("commits", 5),
    ),
    Damage(
        "directory-next-in-commits",
        "a directory commits/N+1 exists",
        _SOME,
        _directory("commits", 1),
    ),
    Damage("directory-instead-of-offset", "offsets/N is a directory", _SOME, _directory_instead),
    Damage(
        "temporary-left",
        "a left-over temporary file of offsets/N+1 exists",
        _SOME,
        _named(".5.2f1e6f0a-0c0c-4a55-9d6e-1a2b3c4d5e6f.tmp"),
    ),
    Damage("backup-left", "a file offsets/N.bak exists", _SOME, _named("9.bak")),
    Damage("padded-name", "a file offsets/007 exists", _SOME, _named("007")),
    Damage("signed-name", "a file offsets/+9 exists", _SOME, _named("+9")),
    Damage("negative-name", "a file offsets/-1 exists", _SOME, _named("-1")),
    Damage("compact-name", "a file offsets/9.compact exists", _SOME, _named("9.compact")),
    Damage("negative-commit", "a file commits/-1 exists", _SOME, _named("-1", "commits")),
)
