"""Damages to the text of a commit, and commits that nothing backs."""

from typing import Any

from tests.restarts.damage import GARBAGE, Damage, either, every, named, pending, rocksdb_state
from tests.restarts.edits import (
    Edit,
    Files,
    newest,
    numbers,
    replaced,
    with_json,
    with_line,
    with_lines,
)

_TEXT = named("stateless", "aggregation", "rocksdb")


def _content(content: bytes, back: int = 0) -> Edit:
    return lambda files: replaced(files, newest(files, "commits", back), content)


def _line(number: int, text: bytes) -> Edit:
    return lambda files: with_line(files, newest(files, "commits"), number, text)


def _cut(files: Files) -> Files:
    path = newest(files, "commits")
    return replaced(files, path, files[path][:12])


def _zeros(files: Files) -> Files:
    path = newest(files, "commits")
    return replaced(files, path, bytes(len(files[path])))


def _framed(before: bytes, after: bytes) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "commits")
        return replaced(files, path, before + files[path] + after)

    return edit


def _crlf(files: Files) -> Files:
    path = newest(files, "commits")
    return replaced(files, path, files[path].replace(b"\n", b"\r\n"))


def _one_line(files: Files) -> Files:
    return with_lines(files, newest(files, "commits"), lambda lines: lines[:1])


def _field(name: str, value: Any) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "commits")
        return with_json(files, path, lambda commit: {**commit, name: value})

    return edit


def _added(ahead: int) -> Edit:
    def edit(files: Files) -> Files:
        number = numbers(files, "offsets")[-1] + ahead
        return {**files, f"commits/{number}": files[newest(files, "commits")]}

    return edit


def _ids_of_before(files: Files) -> Files:
    return replaced(files, newest(files, "commits"), files[newest(files, "commits", 1)])


COMMIT_DAMAGES: tuple[Damage, ...] = (
    Damage("commit-empty", "the newest commit has no bytes", every, _content(b"")),
    Damage("commit-cut", "the newest commit ends in the middle of its JSON", _TEXT, _cut),
    Damage(
        "commit-cut-in-version",
        "the newest commit ends after its first byte",
        _TEXT,
        _content(b"v"),
    ),
    Damage(
        "commit-version-9", "the version line of the newest commit is v9", _TEXT, _line(0, b"v9")
    ),
    Damage(
        "commit-version-0", "the version line of the newest commit is v0", _TEXT, _line(0, b"v0")
    ),
    Damage(
        "commit-version-1",
        "the version line of the newest commit is v1",
        named("rocksdb"),
        _line(0, b"v1"),
    ),
    Damage(
        "commit-version-2",
        "the version line of the newest commit is v2",
        named("stateless", "aggregation"),
        _line(0, b"v2"),
    ),
    Damage(
        "commit-version-3", "the version line of the newest commit is v3", _TEXT, _line(0, b"v3")
    ),
    Damage("commit-one-line", "the newest commit has no second line", _TEXT, _one_line),
    Damage(
        "commit-empty-line", "the second line of the newest commit is empty", _TEXT, _line(1, b"")
    ),
    Damage("commit-braces", "the second line of the newest commit is {}", _TEXT, _line(1, b"{}")),
    Damage("commit-null", "the second line of the newest commit is null", _TEXT, _line(1, b"null")),
    Damage("commit-garbage", "the newest commit holds garbage bytes", _TEXT, _content(GARBAGE)),
    Damage(
        "commit-zeros", "the newest commit has its length and every byte is zero", _TEXT, _zeros
    ),
    Damage("commit-crlf", "the lines of the newest commit end in CRLF", _TEXT, _crlf),
    Damage(
        "commit-bom",
        "the newest commit begins with a byte order mark",
        _TEXT,
        _framed(b"\xef\xbb\xbf", b""),
    ),
    Damage(
        "commit-trailing-newline",
        "the newest commit ends with a newline",
        _TEXT,
        _framed(b"", b"\n"),
    ),
    Damage(
        "commit-unknown-field",
        "the newest commit has a field that Spark does not know",
        _TEXT,
        _field("noSuchField", 1),
    ),
    Damage(
        "commit-watermark-beyond-long",
        "nextBatchWatermarkMs of the newest commit is 2 to the power of 63",
        _TEXT,
        _field("nextBatchWatermarkMs", 2**63),
    ),
    Damage(
        "commit-watermark-text",
        "nextBatchWatermarkMs of the newest commit is text",
        _TEXT,
        _field("nextBatchWatermarkMs", "5"),
    ),
    Damage(
        "commit-without-state-ids",
        "the newest commit has no stateUniqueIds",
        rocksdb_state,
        _line(1, b'{"nextBatchWatermarkMs":0}'),
    ),
    Damage(
        "commit-repeated",
        "the newest commit is the same as the one before it",
        _TEXT,
        _ids_of_before,
    ),
    Damage(
        "older-commit-garbage",
        "the second-newest commit holds garbage bytes",
        either(_TEXT, pending),
        _content(GARBAGE, back=1),
    ),
    Damage("commit-ahead", "a commit N+1 exists, offsets end at N", every, _added(1)),
    Damage("commit-far-ahead", "a commit N+5 exists, offsets end at N", _TEXT, _added(5)),
    Damage(
        "commit-invented", "a commit N exists although batch N never finished", pending, _added(0)
    ),
)
