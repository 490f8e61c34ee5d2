"""The names in offsets/ and commits/: ids without gaps that hurt, and none that do not belong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import chain, islice

from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.picture import Picture, both_skip, missing_between
from holdfast.codes import code_of
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.filelog import log_id_of
from holdfast.format.logs.log import batch_id_of
from holdfast.wording import counted


def check_commit_without_offsets(picture: Picture) -> Iterator[Finding]:
    """Report commits newer than the newest offsets, and commits beside no offsets at all."""
    yield from commit_without_offsets(picture.newest_offsets_id, picture.newest_commit_id)


def commit_without_offsets(planned: int | None, committed: int | None) -> Iterator[Finding]:
    """Report the newest commit where the newest offsets entry is older, or where there is none."""
    if committed is None:
        return
    if planned is None:
        yield Finding(
            "HF2208",
            Severity.FATAL,
            f"offsets/ is empty, but commits/ reaches batch {committed}",
            Place("offsets"),
            {"newest_commit": committed},
        )
    elif committed > planned:
        yield Finding(
            "HF2203",
            Severity.FATAL,
            f"batch {committed} is committed, but offsets/{committed} is missing",
            Place(f"offsets/{committed}"),
            {
                "newest_commit": committed,
                "newest_offsets": planned,
                "files": [f"commits/{committed}", f"offsets/{committed}"],
            },
        )


def check_abandoned_state(picture: Picture) -> Iterator[Finding]:
    """Report state that was left behind when both logs were emptied."""
    layout = picture.layout
    if not layout.offsets.files and not layout.commits.files and layout.state.any_file:
        yield Finding(
            "HF2209",
            Severity.FATAL,
            "offsets/ and commits/ are empty, but state/ is not",
            Place("state"),
            {"operators": len(layout.state.operators)},
        )


def check_offsets_gaps(picture: Picture) -> Iterator[Finding]:
    """Report missing ids between kept ones; what it means depends on which id is missing."""
    yield from offsets_gaps(picture.layout.offsets.ids, picture.layout.commits.files)


def offsets_gaps(ids: tuple[int, ...], commits: Collection[int]) -> Iterator[Finding]:
    """Report ids that are missing between sorted ids of offsets/."""
    missing = missing_between(ids)
    if not missing:
        return
    previous = ids[-1] - 1
    gap = [one for one in missing if one > ids[-2]]
    evidence = {
        "missing": missing[:20],
        "count": len(missing),
        "newest": ids[-1],
        "files": [f"offsets/{ids[-1]}", f"offsets/{previous}"],
    }
    if both_skip(ids, commits):
        skipped = counted(len(missing), "id")
        message = f"offsets/ and commits/ both skip {skipped}, as async tracking does"
        yield Finding("HF2206", Severity.INFO, message, Place("offsets"), evidence)
        return
    if previous not in ids:
        what = f"batch {previous} is" if len(gap) == 1 else f"batches {_some(gap)} are"
        message = f"offsets/ has a gap: {what} missing between {ids[-2]} and {ids[-1]}"
        yield Finding("HF2204", Severity.FATAL, message, Place(f"offsets/{previous}"), evidence)
    for one in [one for one in missing if one not in gap][:5]:
        message = f"offsets/{one} is missing among kept entries"
        yield Finding("HF2205", Severity.WARNING, message, Place(f"offsets/{one}"), evidence)


def check_uncommitted_batches(picture: Picture) -> Iterator[Finding]:
    """Report planned batches without a commit, other than the newest."""
    yield from uncommitted_batches(picture.layout.offsets.ids, picture.layout.commits.files)


def uncommitted_batches(planned: tuple[int, ...], committed: Collection[int]) -> Iterator[Finding]:
    """Report ids of offsets/, other than the newest, that are not in commits/."""
    # Purging removes offsets before commits, so that an old batch never lacks its commit alone.
    skipped = [one for one in planned[:-1] if one not in committed]
    if len(planned) > 1 and skipped:
        yield Finding(
            "HF2207",
            Severity.WARNING,
            f"planned without a commit, before the newest: {_some(skipped)}",
            Place(f"commits/{skipped[-1]}"),
            {
                "batches": skipped[:20],
                "count": len(skipped),
                "files": [f"offsets/{skipped[-1]}", f"commits/{skipped[-1]}"],
            },
        )


def _some(ids: list[int]) -> str:
    shown = ", ".join(str(one) for one in ids[-5:])
    return shown if len(ids) <= 5 else f"…, {shown}"


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
        message = f"{path} is among Spark's own files, but Spark does not use such a name"
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


CONNECTOR_LOGS = "sinks"
"""The folder in which connectors keep logs of their own."""


_IN_COMMITS = code_of("HF2210").next_steps[:2]
_ELSEWHERE = code_of("HF2210").next_steps[2:]


def check_blocking_names(picture: Picture) -> Iterator[Finding]:
    """Report a left-over where the next entry of a log must be created."""
    blocking = _blocking(picture)
    for path in sorted(set(picture.layout.orphan_checksums) & blocking):
        yield Finding(
            "HF2210",
            Severity.FATAL,
            f"{path} was left behind and blocks {checked_name(path)}",
            Place(path),
            {"next_entry": checked_name(path)},
            next_steps=_IN_COMMITS if _is_rerun(path, picture) else _ELSEWHERE,
        )
    for path in _numbered_folders(picture):
        blocks = path in blocking
        yield Finding(
            "HF2210" if blocks else "HF2212",
            Severity.FATAL if blocks else Severity.WARNING,
            f"{path} is a directory" + (" and blocks the next entry" if blocks else ""),
            Place(path),
        )


def _is_rerun(path: str, picture: Picture) -> bool:
    """Tell whether Spark runs the batch of a lost commit again, not plans it.

    The checksum shows that the commit was there: the sink may have that batch.
    """
    log, _, name = (checked_name(path) or "").partition("/")
    return log == "commits" and batch_id_of(name) in picture.layout.offsets.files


def check_orphan_checksums(picture: Picture) -> Iterator[Finding]:
    """Report side files whose file is gone, where they block nothing."""
    blocking = _blocking(picture)
    for path in picture.layout.orphan_checksums:
        if path not in blocking:
            message = f"{checked_name(path)} is missing, but its checksum still exists"
            yield Finding("HF2211", Severity.WARNING, message, Place(path))


def check_misnamed_batches(picture: Picture) -> Iterator[Finding]:
    """Report files whose name Spark parses as a batch id that the name is not."""
    logs = {log.folder: log for log in (picture.layout.offsets, picture.layout.commits)}
    for batch_id, path in picture.layout.misnamed:
        log = logs[path.partition("/")[0]]
        counts = batch_id == log.newest and log.files[batch_id].path == path
        severity = Severity.FATAL if counts else Severity.WARNING
        message = f"{path} is read as batch {batch_id}"
        yield Finding("HF2213", severity, message, Place(path), {"batch": batch_id})
    for name in picture.source_logs:
        for log_id, item in picture.layout.sources[name].files.items():
            if item.path not in (f"sources/{name}/{log_id}", f"sources/{name}/{log_id}.compact"):
                message = f"{item.path} is read as entry {log_id}"
                yield Finding("HF2213", Severity.FATAL, message, Place(item.path))


def check_special_files(picture: Picture) -> Iterator[Finding]:
    """Report links out of the folder, broken links, pipes and devices."""
    for item in picture.layout.special:
        message = f"{item.path} is {item.kind.value.replace('-', ' ')}: it was not opened"
        yield Finding("HF2228", Severity.WARNING, message, Place(item.path))


def check_left_overs(picture: Picture) -> Iterator[Finding]:
    """Mention temporary files and files that are no part of a checkpoint."""
    layout = picture.layout
    if layout.temporary:
        yield Finding(
            "HF2227",
            Severity.INFO,
            f"{counted(len(layout.temporary), 'temporary file')} left behind",
            Place(layout.temporary[0]),
            {"files": list(layout.temporary[:10])},
        )
    # What a connector keeps of its sink is its own log; the doctor tells how large it has grown.
    strange = (one for one in layout.foreign if one.partition("/")[0] != CONNECTOR_LOGS)
    foreign = (*strange, *unknown_in_state(picture))
    if foreign:
        yield Finding(
            "HF2229",
            Severity.INFO,
            f"{_not_belonging(len(foreign))} to a checkpoint: {foreign[0]}"
            + (", …" if len(foreign) > 1 else ""),
            Place(foreign[0]),
            {"names": list(foreign[:10])},
        )


def _not_belonging(count: int) -> str:
    return f"{counted(count, 'name does not', 'names do not')} belong"


def _numbered_folders(picture: Picture) -> tuple[str, ...]:
    return (*picture.layout.offsets.numbered_folders, *picture.layout.commits.numbered_folders)


def _blocking(picture: Picture) -> frozenset[str]:
    """Name what would be in the way of the entries that Spark writes next."""
    planned, pending = picture.newest_offsets_id, picture.pending
    following = 0 if planned is None else planned + 1
    paths = [f"offsets/{following}", f"commits/{following}"]
    if pending is not None:
        paths.append(f"commits/{pending}")
    for name in picture.source_logs:
        paths.append(f"sources/{name}/{max(picture.layout.sources[name].files, default=-1) + 1}")
    split = [path.rpartition("/") for path in paths]
    return frozenset([*paths, *(f"{folder}/.{name}.crc" for folder, _, name in split)])
