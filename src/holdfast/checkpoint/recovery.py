"""Spark's recovery rule as one pure function: what the next start does with this checkpoint.

The steps stand in the order in which Spark takes them; the first that decides ends the matter.
They assume that the query is the one that wrote the checkpoint and runs in micro-batches.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.checkpoint.gaps import skips_like_async
from holdfast.checkpoint.outcome import Action, Difference, NextStart, Outcome
from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.releases import KNOWN_OPERATORS, PARTITIONS, RELEASES, at_least
from holdfast.checkpoint.sourcerecovery import source_failure
from holdfast.checkpoint.staterecovery import provider_of, state_failure
from holdfast.checkpoint.writer import spark_version

Step = Callable[[Picture, str], Outcome | None]


def next_start(picture: Picture, spark: str | None = None) -> NextStart:
    """Tell what the next start does, with the release that wrote it or with the one given."""
    assumed = spark or spark_version(picture).assumed
    outcome = outcome_with(picture, assumed)
    differs = []
    for release in RELEASES:
        other = outcome_with(picture, release)
        if (other.action, other.sink_touched) != (outcome.action, outcome.sink_touched):
            differs.append(Difference(release, other.action, other.reason))
    return NextStart(
        outcome.action,
        outcome.batch_id,
        outcome.reason,
        assumed,
        outcome.sink_touched,
        tuple(differs),
    )


def outcome_with(picture: Picture, release: str) -> Outcome:
    """Tell what one Spark release does."""
    for step in STEPS:
        outcome = step(picture, release)
        if outcome is not None:
            return outcome
    return going_on(picture)


def refused(picture: Picture, path: str) -> Damage | None:
    """Give the damage for which Spark refuses a file, None where it would read it."""
    for damage in picture.damages:
        if damage.file == path and not damage.overlooked:
            return damage
    return None


def _fail(reason: str, batch_id: int | None = None, sink_touched: bool = False) -> Outcome:
    return Outcome(Action.FAIL, batch_id, reason, sink_touched)


def _query_id(picture: Picture, release: str) -> Outcome | None:
    """`metadata` is read first; 4.2 and later refuse to make a new id over an existing log."""
    damage = refused(picture, "metadata")
    if damage is not None:
        return _fail(f"Spark can't read `metadata`: {damage.error.message}")
    if picture.query is not None and not picture.query.well_formed:
        return _fail("the query id in `metadata` is not a UUID: Spark refuses it")
    written = picture.newest_offsets_id is not None or picture.newest_commit_id is not None
    if not picture.layout.has_file("metadata") and written and at_least(release, "4.2"):
        return _fail(
            "`metadata` is missing while the logs hold batches: Spark stops with "
            "STREAMING_CHECKPOINT_MISSING_METADATA_FILE"
        )
    return None


def _newest_entries(picture: Picture, release: str) -> Outcome | None:
    """The newest offsets and the newest commit must be readable."""
    for log in (picture.layout.offsets, picture.layout.commits):
        if log.newest is None:
            continue
        path = log.files[log.newest].path
        if path != f"{log.folder}/{log.newest}":
            return _fail(f"Spark takes {path} for batch {log.newest} and looks for another name")
        damage = refused(picture, path)
        if damage is not None:
            return _fail(f"Spark can't read {path}: {damage.error.message}")
    return _log_versions(picture, release)


def _log_versions(picture: Picture, release: str) -> Outcome | None:
    offsets, commit = picture.newest_offsets, picture.newest_commit
    if offsets is not None and offsets.version > (2 if at_least(release, "4.2") else 1):
        return _fail(f"offsets log v{offsets.version} is not known to Spark {release}")
    greatest = 3 if at_least(release, "4.2") else 2 if at_least(release, "4.0") else 1
    if commit is not None and commit.version > greatest:
        return _fail(f"commit log v{commit.version} is not known to Spark {release}")
    return _commit_version_changes(picture) if release in ("4.0", "4.1") else None


def _commit_version_changes(picture: Picture) -> Outcome | None:
    """4.0 and 4.1 want every commit in the version that the session's state format asks for."""
    versions = {entry.version for entry in picture.commits.values()}
    if len(versions) < 2:
        return None
    return _fail(
        f"commits/ mixes {' and '.join(f'v{one}' for one in sorted(versions))}: Spark stops with "
        "INVALID_LOG_VERSION.EXACT_MATCH_VERSION"
    )


def _nothing_planned(picture: Picture, release: str) -> Outcome | None:
    """Without offsets Spark begins at batch 0, if it finds the rest as empty as it expects."""
    if picture.newest_offsets_id is not None:
        return None
    if picture.newest_commit_id is not None:
        if at_least(release, "4.1"):
            return _fail("offsets/ is empty while commits/ holds batches: Spark refuses to start")
        return _fail(
            "offsets/ is empty: batch 0 is planned anew and reaches the sink, then its commit "
            "collides with the old one",
            batch_id=0,
            sink_touched=True,
        )
    if picture.layout.state.any_file and at_least(release, "4.1"):
        return _fail(
            "offsets/ and commits/ are empty but state/ is not: Spark stops with "
            "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY"
        )
    left = " over the state that was left behind" if picture.layout.state.any_file else ""
    return Outcome(Action.FRESH, 0, f"no batch was ever planned here: batch 0 comes first{left}")


def _previous_entry(picture: Picture, _release: str) -> Outcome | None:
    """Spark needs the offsets before the newest to know where that batch begins."""
    newest = picture.newest_offsets_id
    if newest is None or newest == 0:
        return None
    previous = newest - 1
    if previous not in picture.layout.offsets.files:
        if skips_like_async(picture):
            return None
        return _fail(
            f'offsets/{previous} is missing: Spark stops with "batch {previous} doesn\'t exist"'
        )
    damage = refused(picture, f"offsets/{previous}")
    if damage is not None:
        return _fail(f"Spark can't read offsets/{previous}: {damage.error.message}")
    return _source_count(picture, previous, newest)


def _source_count(picture: Picture, previous: int, newest: int) -> Outcome | None:
    before, after = picture.offsets.get(previous), picture.offsets.get(newest)
    if before is None or after is None or after.version != 1 or before.version != 1:
        return None
    if len(before.sources) == len(after.sources):
        return None
    return _fail(
        f"offsets/{newest} has {len(after.sources)} sources, offsets/{previous} has "
        f"{len(before.sources)}: Spark compares the number with the query's and stops"
    )


def _continuous(picture: Picture, release: str) -> Outcome | None:
    """Continuous processing writes no metadata and goes on from the newest commit."""
    newest, newest_id = picture.newest_offsets, picture.newest_offsets_id
    if newest is None or newest_id is None or newest.metadata is not None:
        return None
    before = picture.offsets.get(newest_id - 1)
    if before is not None and before.metadata is not None:
        reached = picture.pending is not None and not at_least(release, "4.2")
        reason = "the newest offsets entry has no metadata line: Spark needs one"
        return _fail(reason, picture.pending, sink_touched=reached)
    epoch = picture.newest_commit_id
    if epoch is None:
        return Outcome(Action.FRESH, 0, "continuous processing: no epoch was ever committed")
    return Outcome(
        Action.PLAN,
        epoch + 1,
        f"continuous processing: epoch {epoch} is committed, epoch {epoch + 1} follows",
    )


def _pinned_settings(picture: Picture, release: str) -> Outcome | None:
    """A pinned value that is no number stops the start, an unfinished repartition too (4.2+)."""
    partitions = picture.settings.get(PARTITIONS)
    if partitions is None:
        return None
    if not partitions.strip().isdecimal() or int(partitions) < 1:
        return _fail(f"{PARTITIONS} is pinned to {partitions!r}, which Spark refuses")
    if picture.pending is None or picture.newest_commit_id is None:
        return None
    before = picture.offsets.get(picture.pending - 1)
    earlier = before.metadata.settings.get(PARTITIONS) if before and before.metadata else None
    if earlier is not None and earlier != partitions and at_least(release, "4.2"):
        return _fail(
            f"{PARTITIONS} changed from {earlier} to {partitions} in the pending batch: Spark "
            "stops with STREAMING_UNFINISHED_REPARTITION_DETECTED"
        )
    return None


def _sources(picture: Picture, _release: str) -> Outcome | None:
    """A file source must find its own log whole."""
    reason = source_failure(picture, lambda path: refused(picture, path) is not None)
    return None if reason is None else _fail(reason)


def _commit_ahead(picture: Picture, _release: str) -> Outcome | None:
    """A commit without its offsets: the batch before runs again, then its commit collides."""
    planned, committed = picture.newest_offsets_id, picture.newest_commit_id
    if planned is None or committed is None or committed <= planned:
        return None
    return _fail(
        f"commits/{committed} has no offsets: Spark runs batch {planned} again, the sink gets it "
        "once more, then writing its commit fails with CONCURRENT_STREAM_LOG_UPDATE",
        batch_id=planned,
        sink_touched=True,
    )


def _blocked_write(picture: Picture, _release: str) -> Outcome | None:
    """A left-over side file, or a folder, where the next entry must be created."""
    ahead = going_on(picture)
    batch_id = ahead.batch_id
    if ahead.action is Action.PLAN:
        obstacle = _obstacle(picture, f"offsets/{batch_id}") or _source_obstacle(picture)
        if obstacle is not None:
            return _fail(f"{obstacle} is in the way of planning batch {batch_id}", batch_id)
    obstacle = _obstacle(picture, f"commits/{batch_id}")
    if obstacle is None:
        return None
    return _fail(
        f"{obstacle} is in the way of the commit: batch {batch_id} reaches the sink, then Spark "
        "fails, at every start again",
        batch_id,
        sink_touched=True,
    )


def _obstacle(picture: Picture, path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    for candidate in (path, f"{folder}/.{name}.crc"):
        if candidate in picture.layout.items:
            return candidate
    return None


def _source_obstacle(picture: Picture) -> str | None:
    for name in picture.source_logs:
        files = picture.layout.sources[name].files
        following = max(files, default=-1) + 1
        obstacle = _obstacle(picture, f"sources/{name}/{following}")
        if obstacle is not None:
            return obstacle
    return None


def _operator_names(picture: Picture, release: str) -> Outcome | None:
    """From 4.0 on Spark compares each operator's recorded name with the query's."""
    if not at_least(release, "4.0"):
        return None
    for operator in picture.operators.values():
        if operator.name not in KNOWN_OPERATORS:
            return _fail(f"no operator of Spark {release} is called {operator.name!r}")
    return None


def _state(picture: Picture, release: str) -> Outcome | None:
    """The state of the batch before must be loadable."""
    ahead = going_on(picture)
    commit = picture.newest_commit
    with_ids = commit is not None and commit.version == 2 and at_least(release, "4.3")
    if with_ids and provider_of(picture) == "hdfs":
        reason = "commit log v2 asks for state ids, which this state store does not have"
        return _fail(reason, ahead.batch_id, sink_touched=True)
    failure = state_failure(picture, ahead, lambda path: refused(picture, path) is not None)
    if failure is None:
        return None
    early = failure.before_sink or (failure.folder_missing and at_least(release, "4.2"))
    return _fail(failure.reason, ahead.batch_id, sink_touched=not early)


def going_on(picture: Picture) -> Outcome:
    """Everything needed is there: plan the next batch, or run the pending one again."""
    planned, pending = picture.newest_offsets_id, picture.pending
    if planned is None:
        return Outcome(Action.FRESH, 0, "no batch was ever planned here: batch 0 comes first")
    caution = ""
    if skips_like_async(picture) and planned - 1 not in picture.layout.offsets.files:
        caution = (
            f'; with async progress tracking, as before: without it Spark stops with "batch '
            f"{planned - 1} doesn't exist\""
        )
    if pending is None:
        return Outcome(
            Action.PLAN,
            planned + 1,
            f"batch {planned} is committed: the next start asks the sources for new data and "
            f"plans batch {planned + 1}{caution}",
        )
    return Outcome(
        Action.RERUN,
        pending,
        f"batch {pending} was planned but not committed: the next start runs it again with "
        f"exactly these offsets; the sink may already hold it{caution}",
    )


STEPS: tuple[Step, ...] = (
    _query_id,
    _newest_entries,
    _nothing_planned,
    _previous_entry,
    _continuous,
    _pinned_settings,
    _sources,
    _commit_ahead,
    _blocked_write,
    _operator_names,
    _state,
)
