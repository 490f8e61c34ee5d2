"""Takes batches of a Delta table back: all of them, or those after one, or changes nothing.

Four steps, each one commit: the query's name in the table is closed, so that no old driver writes
any more; the rows are taken back by RESTORE, or DELETE where all go; the generation of the act is
written down, so that no older one writes under the next name; that name is opened. Killed in
between, the next act first brings it to its end: forwards where the rows went, backwards where they
did not. No row of anybody else is taken along.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.batches import (
    CLOSED,
    FORMAT,
    Application,
    ApplicationState,
    application_state,
    current_application,
    fence_before,
)
from holdfast.ledgers.delta.rewind import (
    TableVersion,
    find_beginning,
    find_ending,
    find_goal,
    find_late_step,
    newest_generation,
    versions_newest_first,
)
from holdfast.ledgers.delta.transactions import DeltaLedger, read_delta_ledger
from holdfast.ledgers.identity import is_backfill
from holdfast.ledgers.sinkstate import refuse_other_queries
from holdfast.spark.sinks.delta.commits import is_conflict
from holdfast.spark.sinks.rowchecks import quoted
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Note = Mapping[str, object]

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


class TableCommands:
    """Commands on one table; each raises what Spark raises."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self._session = session
        self._path = path

    def commit_nothing(self, app_id: str, version: int, note: Note) -> None:
        """Commit an identifier and no row; Delta skips it if it is in the table already."""
        columns = self._session.read.format("delta").load(self._path).schema
        nothing = self._session.createDataFrame([], columns)
        writer = nothing.write.format("delta").mode("append").option("userMetadata", _text(note))
        writer.option("txnAppId", app_id).option("txnVersion", str(version)).save(self._path)

    def restore(self, version: int, note: Note) -> None:
        """Make the table what it was at this version."""
        with self._noting(note):
            self._table().restoreToVersion(version)

    def delete_all(self, note: Note) -> None:
        """Delete every row; Delta commits nothing where there is none."""
        with self._noting(note):
            self._table().delete()

    def is_append_only(self) -> bool:
        """Return whether the table is set to refuse what takes rows away."""
        detail = self._session.sql(f"describe detail delta.{quoted(self._path)}").collect()[0]
        return str(detail["properties"].get("delta.appendOnly", "")).lower() == "true"

    def why_not_restorable(self, version: int) -> str | None:
        """Return why a version cannot be restored; None where all that it needs is there."""
        reader = self._session.read.format("delta")
        try:
            then = reader.option("versionAsOf", version).load(self._path).inputFiles()
        except (Py4JError, PySparkException):
            return "the table's log no longer contains it"
        now = self._session.read.format("delta").load(self._path).inputFiles()
        missing = [file for file in set(then).difference(now) if not self._is_there(file)]
        if missing:
            return f"{len(missing)} of its files are missing"
        return None

    def _is_there(self, file: str) -> bool:
        context: Any = self._session.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(file)
        settings = self._session._jsparkSession.sessionState().newHadoopConf()
        return bool(path.getFileSystem(settings).exists(path))

    def _table(self) -> Any:
        machine: Any = self._session.sparkContext._jvm
        return machine.io.delta.tables.DeltaTable.forPath(self._session._jsparkSession, self._path)

    @contextmanager
    def _noting(self, note: Note) -> Iterator[None]:
        self._session.conf.set(_USER_METADATA, _text(note))
        try:
            yield
        finally:
            self._session.conf.unset(_USER_METADATA)


def _text(note: Note) -> str:
    return json.dumps({"holdfast": FORMAT, **note})


ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class _Act:
    """One taking back: whose batches, after which one, and how the rows go."""

    id: str
    standings: tuple[ApplicationState, ...]
    batches: Mapping[str, int]
    """Query to the batch that it goes on after."""
    version: int | None
    """The version to restore; None where every row goes."""
    seen: int
    """The newest version that was looked at before."""
    told: Note = field(default_factory=dict)
    """What else is noted with the version that takes the rows."""


class DeltaRewind:
    """Takes batches of one table back, under one generation of the job."""

    def __init__(
        self, commands: TableCommands, sink: ReadySink, log: Reader, at: str, generation: int
    ) -> None:
        self._commands = commands
        self._sink = sink
        self._log = log
        self._at = at
        self._generation = generation

    def rewind(self, query_id: str, batch_id: int) -> None:
        """Take back every batch of a query after this one, or raise HF5011 and change nothing."""
        if self._sink.mode not in ("append", "complete"):
            why = (
                "rows that were replaced since would have to be restored, and later batches removed"
            )
            raise self._refused("an upserted table cannot be rewound", why)
        if self._ledger() is None and batch_id == -1:
            return
        for _ in range(ATTEMPTS):
            ledger, standing = self._settled(query_id)
            if batch_id != (-1 if standing.last_batch is None else standing.last_batch):
                version = self._goal(ledger, query_id, batch_id)
                self._take_back((standing,), {query_id: batch_id}, version, ledger.newest_version)
                return
            if self._is_fenced(ledger, standing):
                return
            # No row goes, but a driver may hold a later batch that it has not committed yet.
            act = _Act(
                uuid.uuid4().hex, (standing,), {query_id: batch_id}, None, ledger.newest_version
            )
            self._close(act, standing)
            reach("delta.closed")
        raise self._refused(f"another process rewound the query {query_id} at the same time")

    def fence(self, query_id: str) -> None:
        """Accept no commit of an older generation of this query any more; change no row."""
        for _ in range(ATTEMPTS):
            self._refuse_older(self._ledger(), query_id)
            self._settle(query_id)
            ledger = self._ledger()
            standing = _standing(ledger, query_id)
            if ledger is None or standing.closed or self._is_fenced(ledger, standing):
                return
            newest = -1 if standing.last_batch is None else standing.last_batch
            act = _Act(
                uuid.uuid4().hex, (standing,), {query_id: newest}, None, ledger.newest_version
            )
            self._close(act, standing)
            reach("delta.closed")
        raise self._refused(f"another process fenced the query {query_id} at the same time")

    def _settled(self, query_id: str) -> tuple[DeltaLedger, ApplicationState]:
        """Finish what was begun, and return how the query stands; raise where it can't go back."""
        self._refuse_older(self._ledger(), query_id)
        self._settle(query_id)
        ledger = self._ledger()
        if ledger is None:
            raise self._refused(f"no table knows the query {query_id}")
        standing = _standing(ledger, query_id)
        if standing.closed:
            raise self._refused(f"the table is permanently closed for the query {query_id}")
        return ledger, standing

    def clear(self, wanted: Collection[str] | None = None) -> None:
        """Remove every row and the memory of every query, or raise HF5011 and change nothing.

        Refused where a query has batches that is not wanted; None: the only one that has any is.
        """
        ledger = self._ledger()
        if ledger is None:
            return
        held = [one for one, newest in ledger.transactions.items() if newest != CLOSED]
        refuse_other_queries(held, wanted, self._at)
        # A backfill counts the generations of a lease of its own: they compare with no other.
        for query_id in (one for one in ledger.transactions if not is_backfill(one)):
            self._refuse_older(ledger, query_id)
        for query_id, newest in ledger.transactions.items():
            if newest == CLOSED:
                self._settle(query_id)
        ledger = self._ledger() or ledger
        queries = self._all_ours(ledger, None)
        standings = [_standing(ledger, one) for one in sorted(queries)]
        holding = tuple(
            one
            for one in standings
            if one.last_batch is not None or not (one.closed or self._is_fenced(ledger, one))
        )
        if not holding and not any(one.closed for one in standings):
            return
        self._refuse_append_only()
        self._take_back(holding, dict.fromkeys(queries, -1), None, ledger.newest_version)

    def _is_fenced(self, ledger: DeltaLedger, standing: ApplicationState) -> bool:
        """Return whether no older generation can write any more."""
        return fence_before(ledger.identifiers, standing.application) >= self._generation

    def _refuse_older(self, ledger: DeltaLedger | None, query_id: str) -> None:
        """Raise HF5062 where a newer generation took batches back, HF5026 where it wrote one."""
        identifiers = ledger.identifiers if ledger is not None else {}
        fence = fence_before(identifiers, current_application(identifiers, query_id))
        if self._generation < fence:
            message = f"the table was rewound by generation {fence} of the job; "
            message += f"this is generation {self._generation}"
            raise SinkError("HF5062", message, at=self._at)
        versions = () if ledger is None else self._versions(ledger.newest_version)
        newest = newest_generation(versions, query_id)
        if self._generation < newest:
            message = (
                f"a driver of lease generation {newest} has written here; generation "
                f"{self._generation} cannot rewind it"
            )
            raise SinkError("HF5026", message, at=self._at)

    def _goal(self, ledger: DeltaLedger, query_id: str, batch_id: int) -> int | None:
        """Return the version to restore, None for an empty table; raise HF5011."""
        if batch_id == -1:
            self._all_ours(ledger, (query_id,))
            self._refuse_append_only()
            return None
        goal = find_goal(self._versions(ledger.newest_version), query_id, batch_id)
        if goal.version is None:
            message = f"the table's log has no batch {batch_id} of the query {query_id}"
            raise self._refused(message)
        if goal.foreign is not None:
            message = f"version {goal.foreign} of the table was written by another writer, after "
            raise self._refused(message + f"batch {batch_id}")
        self._refuse_append_only()
        missing = self._commands.why_not_restorable(goal.version)
        if missing is not None:
            message = f"version {goal.version} of the table cannot be restored: {missing}"
            raise self._refused(message)
        return goal.version

    def _all_ours(self, ledger: DeltaLedger, queries: Collection[str] | None) -> frozenset[str]:
        """Return whose rows the table holds; raise HF5011 where it has others, or cannot tell."""
        found = find_beginning(self._versions(ledger.newest_version), queries)
        if found.foreign is not None:
            message = f"the table has rows of another writer, from version {found.foreign}"
            raise self._refused(message)
        if not found.seen_whole:
            message = "the table's log no longer reaches back to its first row"
            raise self._refused(message, "it is unknown whether all rows are the job's own")
        return found.queries

    def _refuse_append_only(self) -> None:
        if self._commands.is_append_only():
            raise self._refused("the table is append-only: delta.appendOnly")

    def _take_back(
        self,
        standings: tuple[ApplicationState, ...],
        batches: Mapping[str, int],
        version: int | None,
        seen: int,
        told: Note | None = None,
    ) -> None:
        act = _Act(uuid.uuid4().hex, standings, batches, version, seen, told or {})
        for standing in standings:
            self._close(act, standing)
            reach("delta.closed")
        self._take_rows_away(act)
        reach("delta.taken-back")
        self._give_back_if_late(act)
        for standing in standings:
            self._settle(standing.application.query_id)

    def _close(self, act: _Act, standing: ApplicationState) -> None:
        """Close a name, so that whatever is written under it is skipped, and in flight fails."""
        application = standing.application
        note = {
            "act": "closed",
            "act_id": act.id,
            "generation": self._closing(application),
            "query_id": application.query_id,
            "batch_id": act.batches[application.query_id],
            "last_batch": standing.last_batch,
            "newest_version": act.seen,
        }
        self._again(lambda: self._commands.commit_nothing(application.id, CLOSED, note))

    def _closing(self, application: Application) -> int:
        """Return our generation; of a backfill no smaller one than its own lease left there."""
        ledger = self._ledger() if is_backfill(application.query_id) else None
        if ledger is None:
            return self._generation
        newest = newest_generation(self._versions(ledger.newest_version), application.query_id)
        return max(self._generation, newest, fence_before(ledger.identifiers, application))

    def _take_rows_away(self, act: _Act) -> None:
        newest, meddled = self._newest_of(act)
        if meddled is not None:
            for standing in act.standings:
                self._settle(standing.application.query_id)
            message = (
                f"version {meddled} of the table was committed in between; no rows were removed"
            )
            raise self._refused(message)
        note = self._note("taken-back", act.id, batches=act.batches, **act.told)
        if act.version is None:
            self._again(lambda: self._commands.delete_all(note))
        else:
            version = act.version
            self._again(lambda: self._commands.restore(version, note))
        if act.version is None and act.standings and self._newest_of(act)[0] == newest:
            # No row was there, so that Delta committed nothing. The act needs its step all the
            # same; the version before has the same rows, and Delta restores no newest one.
            self._again(lambda: self._commands.restore(newest - 1, note))

    def _give_back_if_late(self, act: _Act) -> None:
        """Raise where another act had ended this one before its rows went; they come back first."""
        ledger = self._ledger()
        newest = act.seen if ledger is None else ledger.newest_version
        since = takewhile(lambda one: one.number > act.seen, self._versions(newest))
        late = find_late_step(since, act.id, {one.application.following for one in act.standings})
        if late is None:
            return
        if late.has_rows_since:
            message = f"version {late.number} of the table removed rows that a newer driver wrote; "
            raise SinkError(
                "HF5063", f"{message}version {late.number - 1} still has them", at=self._at
            )
        version = late.number - 1
        back = self._note("given-back", act.id, batches=dict.fromkeys(act.batches, -1))
        self._again(lambda: self._commands.restore(version, back))
        raise self._refused("another rewind was committed in between; the rows were restored")

    def _newest_of(self, act: _Act) -> tuple[int, int | None]:
        """Return the newest version, and one since the first look that is not the act's own."""
        ledger = self._ledger()
        newest = act.seen if ledger is None else ledger.newest_version
        steps = 0
        for version in self._versions(newest):
            if version.number <= act.seen:
                break
            own = bool(version.queries) and version.queries <= set(act.batches)
            of_another_act = version.note.get("act_id", act.id) != act.id
            if of_another_act or ((version.changes_rows or version.changes_table) and not own):
                return newest, version.number
            steps += version.note.get("act_id") == act.id
        # Delta skips a closing silently where somebody else closed the name before.
        return newest, None if steps >= len(act.standings) else newest

    def _settle(self, query_id: str) -> None:
        """Bring an act that closed the query's name to its end, if there is one."""
        ledger = self._ledger()
        standing = _standing(ledger, query_id)
        if ledger is None or not standing.closed:
            return
        ending = find_ending(self._versions(ledger.newest_version), standing.application)
        if ending is None:
            return
        if ending.give_back is not None:
            version = ending.give_back
            back = self._note("given-back", ending.act_id, batches={query_id: -1})
            self._again(lambda: self._commands.restore(version, back))
        self._open(standing.application, ending.batch_id, ending.act_id)
        if ending.foreign is not None:
            reported = "were restored" if ending.give_back is not None else "were removed too"
            message = (
                f"version {ending.foreign} of the table was committed in between, and its rows "
                f"{reported}"
            )
            raise self._refused(message)

    def _open(self, ended: Application, batch_id: int | None, act_id: str) -> None:
        """Open the name after the one that ended; who knows it also knows who may use it."""
        batch_id, query_id = -1 if batch_id is None else batch_id, ended.query_id
        fenced, fence = self._closing(ended), self._note("fenced", act_id, query_id=query_id)
        self._again(lambda: self._commands.commit_nothing(ended.fencing_id, fenced, fence))
        reach("delta.fenced")
        note = self._note("opened", act_id, query_id=query_id, batch_id=batch_id)
        opening_id, first = ended.following.opening_id, batch_id + 1
        self._again(lambda: self._commands.commit_nothing(opening_id, first, note))

    def _note(self, act: str, act_id: str, **reported: object) -> Note:
        return {"act": act, "act_id": act_id, "generation": self._generation, **reported}

    def _again(self, commit: Callable[[], None]) -> None:
        """Commit, again where somebody else's commit came between."""
        for attempt in range(ATTEMPTS):
            try:
                commit()
                return
            except (Py4JError, PySparkException) as error:
                if not is_conflict(error) or attempt + 1 == ATTEMPTS:
                    message = "a rewind is in progress, and the table refused its next step"
                    raise SinkError("HF5060", message, at=self._at) from error
                time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)

    def _ledger(self) -> DeltaLedger | None:
        return read_delta_ledger(self._log)

    def _versions(self, newest: int) -> Iterator[TableVersion]:
        return versions_newest_first(self._log, newest)

    def _refused(self, message: str, why: str | None = None) -> SinkError:
        return SinkError("HF5011", message, at=self._at, why=why)


def _standing(ledger: DeltaLedger | None, query_id: str) -> ApplicationState:
    identifiers = ledger.identifiers if ledger is not None else {}
    return application_state(identifiers, current_application(identifiers, query_id))
