"""Damages that take whole entries or whole folders away."""

from tests.restarts.damage import Damage, either, every, named, pending
from tests.restarts.edits import Edit, Files, newest, numbers, without, without_folder

_PLAIN = named("stateless", "stateless-pending", "aggregation", "rocksdb", "async-gaps")


def _newest_gone(offsets: int, commits: int) -> Edit:
    def edit(files: Files) -> Files:
        gone = [newest(files, "offsets", back) for back in range(offsets)]
        gone += [newest(files, "commits", back) for back in range(commits)]
        return without(files, *gone)

    return edit


def _entry_gone(folder: str, back: int) -> Edit:
    return lambda files: without(files, newest(files, folder, back))


def _folders_gone(*folders: str) -> Edit:
    return lambda files: without_folder(files, *folders)


def _emptied(folder: str) -> Edit:
    return lambda files: {**without_folder(files, folder), f"{folder}/": b""}


def _oldest_purged(files: Files) -> Files:
    gone = [
        f"{folder}/{n}" for folder in ("offsets", "commits") for n in numbers(files, folder)[:2]
    ]
    return without(files, *gone)


def _only_metadata(files: Files) -> Files:
    kept = ("metadata", ".metadata.crc")
    found = {path: content for path, content in files.items() if path in kept}
    return {**found, **_sink_log(files)}


def _sink_log(files: Files) -> Files:
    return {path: content for path, content in files.items() if path.startswith("../")}


def _only_first(commits: int) -> Edit:
    def edit(files: Files) -> Files:
        gone = [f"offsets/{number}" for number in numbers(files, "offsets")[1:]]
        gone += [f"commits/{number}" for number in numbers(files, "commits")[commits:]]
        return without(files, *gone)

    return edit


def _only_newest_offset(files: Files) -> Files:
    return without(files, *[f"offsets/{number}" for number in numbers(files, "offsets")[:-1]])


def _offset_ahead(distance: int) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "offsets")
        number = numbers(files, "offsets")[-1] + distance
        return {**files, f"offsets/{number}": files[path]}

    return edit


LOG_DAMAGES: tuple[Damage, ...] = (
    Damage("none", "nothing is changed", every, dict),
    Damage("newest-commit-missing", "the newest commit is removed", every, _newest_gone(0, 1)),
    Damage(
        "two-newest-commits-missing", "the newest 2 commits are removed", every, _newest_gone(0, 2)
    ),
    Damage(
        "three-newest-commits-missing",
        "the newest 3 commits are removed",
        every,
        _newest_gone(0, 3),
    ),
    Damage(
        "all-commits-missing",
        "every commit is removed, the folder stays",
        every,
        _emptied("commits"),
    ),
    Damage(
        "commits-folder-removed", "the folder commits is removed", _PLAIN, _folders_gone("commits")
    ),
    Damage(
        "older-commit-missing",
        "the third-newest commit is removed",
        _PLAIN,
        _entry_gone("commits", 2),
    ),
    Damage(
        "newest-offset-missing",
        "the newest offsets entry is removed, its commit stays",
        every,
        _newest_gone(1, 0),
    ),
    Damage(
        "two-newest-offsets-missing",
        "the newest 2 offsets entries are removed",
        _PLAIN,
        _newest_gone(2, 0),
    ),
    Damage(
        "newest-offset-and-commit-missing",
        "the newest offsets entry and commit are removed",
        every,
        _newest_gone(1, 1),
    ),
    Damage(
        "two-newest-offsets-and-commits-missing",
        "the newest 2 offsets entries and the newest 2 commits are removed",
        every,
        _newest_gone(2, 2),
    ),
    Damage(
        "two-newest-offsets-and-newest-commit-missing",
        "the newest 2 offsets entries and the newest commit are removed",
        pending,
        _newest_gone(2, 1),
    ),
    Damage(
        "newest-offset-and-two-commits-missing",
        "the newest offsets entry and the newest 2 commits are removed",
        every,
        _newest_gone(1, 2),
    ),
    Damage(
        "only-first-batch", "offsets and commits hold batch 0 alone", _PLAIN, _only_first(commits=1)
    ),
    Damage(
        "only-first-offset", "offsets hold batch 0 alone, no commit", _PLAIN, _only_first(commits=0)
    ),
    Damage("only-newest-offset", "offsets hold batch N alone", _PLAIN, _only_newest_offset),
    Damage("offset-ahead", "offsets/N+1 is a copy of offsets/N", _PLAIN, _offset_ahead(1)),
    Damage("offset-far-ahead", "offsets/N+3 is a copy of offsets/N", _PLAIN, _offset_ahead(3)),
    Damage(
        "second-newest-offset-missing",
        "the second-newest offsets entry is removed",
        every,
        _entry_gone("offsets", 1),
    ),
    Damage(
        "older-offset-missing",
        "the third-newest offsets entry is removed",
        every,
        _entry_gone("offsets", 2),
    ),
    Damage(
        "oldest-entries-purged",
        "the oldest 2 offsets entries and commits are removed",
        _PLAIN,
        _oldest_purged,
    ),
    Damage(
        "offsets-folder-emptied",
        "every offsets entry is removed, the folder stays",
        _PLAIN,
        _emptied("offsets"),
    ),
    Damage(
        "offsets-folder-removed", "the folder offsets is removed", every, _folders_gone("offsets")
    ),
    Damage(
        "offsets-and-commits-removed",
        "the folders offsets and commits are removed",
        every,
        _folders_gone("offsets", "commits"),
    ),
    Damage(
        "offsets-commits-and-state-removed",
        "the folders offsets, commits and state are removed, sources stay",
        named("aggregation", "rocksdb"),
        _folders_gone("offsets", "commits", "state"),
    ),
    Damage(
        "only-metadata-kept", "everything but the file metadata is removed", every, _only_metadata
    ),
    Damage(
        "everything-removed",
        "the checkpoint folder is removed",
        either(_PLAIN, named("file-sink")),
        _sink_log,
    ),
    Damage(
        "empty-folder",
        "the checkpoint folder is empty",
        either(_PLAIN, named("file-sink")),
        lambda files: {**_sink_log(files), "./": b""},
    ),
)
