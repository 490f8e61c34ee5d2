"""The ids of offsets/ and commits/: no gap that hurts, no commit without its offsets."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from holdfast.checkpoint.picture import Picture, both_skip, missing_between
from holdfast.findings import Finding, Place, Severity
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
        gap = [one for one in missing if one > ids[-2]]
        what = f"batch {previous} is" if len(gap) == 1 else f"batches {_some(gap)} are"
        message = f"offsets/ has a gap: {what} missing between {ids[-2]} and {ids[-1]}"
        yield Finding("HF2204", Severity.FATAL, message, Place(f"offsets/{previous}"), evidence)
    for one in [one for one in missing if one != previous][:5]:
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
