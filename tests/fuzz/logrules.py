"""Rules on the two logs: what a batch says follows from what the batches before it said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tests.fuzz.decoded import Broken, Decoded, Rule, broken

_RELEASE_KEYS = (10, 11, 15, 17)
"""How many settings each release pins."""


def _async(found: Decoded) -> bool:
    """Both logs skip the same ids, as async progress tracking writes them."""
    offsets = found.ids("offsets")
    # Purging removes offsets before commits.
    commits = [one for one in found.ids("commits") if offsets and one >= offsets[0]]
    gaps = bool(commits) and commits[-1] - commits[0] >= len(commits)
    return gaps and offsets in (commits, [*commits, offsets[-1] if offsets else -1])


def ids_without_gaps(found: Decoded) -> Iterator[Broken]:
    """Ids of offsets/ follow each other, unless both logs skip the same ones."""
    ids = found.ids("offsets")
    if not ids or _async(found):
        return
    for before, after in pairwise(ids):
        if after != before + 1:
            lost = {f"offsets/{one}" for one in (before + 1, after - 1)}
            yield Broken("ids follow each other", frozenset({*lost, f"offsets/{after}"}))


def commits_have_offsets(found: Decoded) -> Iterator[Broken]:
    """No commit is newer than the newest offsets entry."""
    planned, committed = found.ids("offsets"), found.ids("commits")
    if committed and (not planned or committed[-1] > planned[-1]):
        places = (f"offsets/{committed[-1]}", f"commits/{committed[-1]}", "offsets")
        yield broken("a commit has offsets", *places)


def offsets_have_commits(found: Decoded) -> Iterator[Broken]:
    """Every planned batch but the newest is committed."""
    planned, committed = found.ids("offsets")[:-1], found.ids("commits")
    lost = [one for one in planned if one not in committed]
    if lost and found.files:
        yield broken(
            "planned batches are committed", "commits", *(f"commits/{one}" for one in lost)
        )


def query_has_id(found: Decoded) -> Iterator[Broken]:
    """`metadata` is there when a batch was planned."""
    if "metadata" not in found.files and (found.ids("offsets") or found.ids("commits")):
        yield broken("the query has an id", "metadata")


def state_without_logs(found: Decoded) -> Iterator[Broken]:
    """State belongs to logs."""
    has_state = any(path.startswith("state/") for path in found.files)
    if has_state and not found.ids("offsets") and not found.ids("commits"):
        yield broken("state belongs to logs", "state", "offsets", "commits")


def watermark_follows(found: Decoded) -> Iterator[Broken]:
    """A batch's watermark is the greater of the one before and of what its commit says."""
    for batch, before, after in found.steps:
        commit = found.commits.get(batch - 1)
        if before[1] is None or after[1] is None:
            continue
        lowest = before[1]["batchWatermarkMs"]
        places = [f"offsets/{batch}", f"offsets/{batch - 1}", f"commits/{batch - 1}"]
        if commit is not None:
            lowest = max(lowest, commit[1]["nextBatchWatermarkMs"])
        now = after[1]["batchWatermarkMs"]
        if now < lowest or (commit is not None and now > lowest):
            yield broken("the watermark follows", *places)


def commit_keeps_watermark(found: Decoded) -> Iterator[Broken]:
    """A commit's watermark is not below the one of its own batch."""
    for batch, commit in found.commits.items():
        entry = found.offsets.get(batch)
        if entry is None or entry[1] is None:
            continue
        if commit[1]["nextBatchWatermarkMs"] < entry[1]["batchWatermarkMs"]:
            yield broken("a commit keeps the watermark", f"commits/{batch}", f"offsets/{batch}")


def time_goes_on(found: Decoded) -> Iterator[Broken]:
    """Batches are planned one after the other, after 1970 and not at the same entry."""
    for batch, entry in found.offsets.items():
        if entry[1] is not None and entry[1]["batchTimestampMs"] <= 0:
            yield broken("a batch has a time", f"offsets/{batch}")
    for batch, before, after in found.steps:
        places = (f"offsets/{batch}", f"offsets/{batch - 1}")
        if (before[1] is None) != (after[1] is None):
            yield broken("all entries have metadata", *places)
        elif before == after and after[1] is not None:
            yield broken("entries differ", *places)
        elif after[1] and after[1]["batchTimestampMs"] < before[1]["batchTimestampMs"]:
            yield broken("time goes on", *places)


def sources_stay(found: Decoded) -> Iterator[Broken]:
    """In v1 the number of sources stays; a log's version never goes back."""
    for batch, before, after in found.steps:
        places = (f"offsets/{batch}", f"offsets/{batch - 1}")
        if before[0] == after[0] == 1 and len(before[2]) != len(after[2]):
            yield broken("the number of sources stays", *places)
        if after[0] < before[0]:
            yield broken("the log version stays", *places)
    for batch, commit in found.commits.items():
        earlier = found.commits.get(batch - 1)
        if earlier is not None and commit[0] < earlier[0]:
            yield broken("the log version stays", f"commits/{batch}", f"commits/{batch - 1}")


def settings_stay(found: Decoded) -> Iterator[Broken]:
    """Pinned settings are repeated, unless Spark's release or the partitions changed."""
    for batch, before, after in found.steps:
        if before[1] is None or after[1] is None:
            continue
        old, new = before[1].get("conf", {}), after[1].get("conf", {})
        places = (f"offsets/{batch}", f"offsets/{batch - 1}")
        changed = {key for key in set(old) & set(new) if old[key] != new[key]}
        if changed - {"spark.sql.shuffle.partitions"} or (changed and before[2] != after[2]):
            yield broken("settings stay", *places)
        if before[0] == 2 and set(new) - set(old) == {"spark.sql.shuffle.partitions"}:
            # Spark 4.2.0 left it out of logs of version 2.
            continue
        other_release = len(old) != len(new) and {len(old), len(new)} <= set(_RELEASE_KEYS)
        if set(old) != set(new) and not other_release:
            yield broken("settings are a release's", *places)


def names_are_plain(found: Decoded) -> Iterator[Broken]:
    """No file of the logs spells its number in another way, and no folder is named like one."""
    for path in found.files:
        parts = path.split("/")
        if parts[0] not in ("offsets", "commits") or len(parts) < 2:
            continue
        name = parts[1]
        if name.lstrip("+").isdecimal() and (name != str(int(name)) or len(parts) > 2):
            yield broken("names are plain", f"{parts[0]}/{name}")


LOG_RULES: tuple[Rule, ...] = (
    ids_without_gaps,
    commits_have_offsets,
    offsets_have_commits,
    query_has_id,
    state_without_logs,
    watermark_follows,
    commit_keeps_watermark,
    time_goes_on,
    sources_stay,
    settings_stay,
    names_are_plain,
)
