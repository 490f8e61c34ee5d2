"""The sink, broken on purpose: each of these is a bug that it had or could have had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any
from unittest import mock

from holdfast.errors import SinkError
from holdfast.spark.sinks.database.dialect import DatabaseFailure
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.ledgerstate import CommittedBatch, LedgerJudge, QueryState
from holdfast.spark.sinks.database.rewinding import TakeBack
from holdfast.spark.sinks.database.sink import DatabaseSink
from holdfast.spark.sinks.database.staging import BatchMove, StagingTables
from tests.simulation.postgres.choices import parsed
from tests.simulation.postgres.exploring import Explored, drawn, explore, few_deviations, shrunk
from tests.simulation.postgres.running import Ran, Stage
from tests.simulation.postgres.scenarios import SCENARIOS
from tests.simulation.postgres.server import Server

MOST_SCHEDULES = 3000


@dataclass(frozen=True)
class Mutant:
    """One way to break the sink, and the scenario that has to find it."""

    what: str
    scenario: str
    broken: Callable[[], AbstractContextManager[Any]]
    known: str = ""
    """A schedule that finds it with the fewest deviations, as long as the sink sends the same."""


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _patched(owner: Any, name: str, stand_in: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: mock.patch.object(owner, name, stand_in)


_committed, _claim = DatabaseLedger.committed, DatabaseLedger.claim
_commit = BatchMove.commit
_judged, _pruned = LedgerJudge.committed, QueryState.pruned


def _gap_is_held(self: LedgerJudge, seen: Any, identity: Any) -> CommittedBatch | None:
    try:
        return _judged(self, seen, identity)
    except SinkError as error:
        if error.code.number != "HF5046":
            raise
        return CommittedBatch(identity.batch_id, identity.generation, None, None)


def _any_offsets(self: LedgerJudge, seen: Any, identity: Any) -> CommittedBatch | None:
    try:
        return _judged(self, seen, identity)
    except SinkError as error:
        if error.code.number != "HF5003":
            raise
        found: CommittedBatch = seen.same
        return found


def _of_any_generation(
    self: DatabaseLedger, connection: Any, query_id: str, generation: int
) -> Any:
    return self._view(connection, query_id, -2).state


def _swallowed(self: BatchMove, connection: Any) -> CommittedBatch | None:
    try:
        return _commit(self, connection)
    except DatabaseFailure as failure:
        if not failure.lost and not failure.contended:
            raise
        return None


def _apart(self: BatchMove, connection: Any) -> CommittedBatch | None:
    with connection.transaction():
        held = self._claimed(connection)
        if held is not None:
            return held
        self.ledger.count(connection, self.identity, self.staged.rows)
    with connection.transaction():
        self._insert(connection)
    return None


def _of_own_generation(
    self: DatabaseLedger, connection: Any, identity: Any, *, lock: bool = False
) -> CommittedBatch | None:
    found = _committed(self, connection, identity, lock=lock)
    return found if found is None or found.generation == identity.generation else None


def _always_claimed(self: DatabaseLedger, connection: Any, identity: Any) -> bool:
    _claim(self, connection, identity)
    return True


def _without_total(self: QueryState, rows: int, oldest: int, newest: int) -> QueryState:
    return _pruned(self, 0, oldest, newest)


@contextmanager
def _as_before() -> Iterator[None]:
    """Take every fence out, as it was before there was one."""
    with (
        mock.patch.object(DatabaseLedger, "fence", _nothing),
        mock.patch.object(DatabaseLedger, "count_clear", _nothing),
        mock.patch.object(LedgerJudge, "committed", _gap_is_held),
    ):
        yield


@contextmanager
def _neither_lock_nor_claim() -> Iterator[None]:
    with (
        mock.patch.object(DatabaseLedger, "_lock", _nothing),
        mock.patch.object(DatabaseLedger, "claim", _always_claimed),
    ):
        yield


_take_back = DatabaseSink._take_back


def _found_early(self: DatabaseSink, connection: Any, generation: int) -> TakeBack:
    take_back = _take_back(self, connection, generation)
    table = take_back.find()
    return replace(take_back, find=lambda: table)


MUTANTS: dict[str, Mutant] = {
    "no-fence-rewind": Mutant(
        "rewind leaves no fence: a late commit stands beside the re-run",
        "rewind", _patched(DatabaseLedger, "fence", _nothing), "7:1,19:3"),
    "no-fence-gap": Mutant(
        "neither fence nor gap: a late commit makes the re-run of an older batch look held",
        "rewind-same", _as_before, "7:1,19:3"),
    "no-fence-clear": Mutant(
        "clear leaves no fence: a driver of the removed query commits beside the new one",
        "clear-new-query", _as_before, "2:1"),
    "clear-not-counted": Mutant(
        "clear is not counted: a driver that had committed nothing yet comes late",
        "clear-first", _patched(DatabaseLedger, "count_clear", _nothing), "16:1,43:1"),
    "late-take-back": Mutant(
        "a take-back does not ask for newer generations: a late one removes the re-run's rows",
        "rewind-late", _patched(DatabaseLedger, "state", _of_any_generation), "1:1"),
    "gap-is-held": Mutant(
        "a batch that the ledger misses below a newer one counts as held",
        "gap", _patched(LedgerJudge, "committed", _gap_is_held)),
    "no-row-lock": Mutant(
        "no row is locked before the batch is claimed",
        "rewind", _patched(DatabaseLedger, "_lock", _nothing), "2:1,13:1,30:2"),
    "take-back-unlocked": Mutant(
        "a take-back does not close the ledger to others",
        "rewind", _patched(DatabaseLedger, "close_to_others", _nothing), "9:1"),
    "commit-error-swallowed": Mutant(
        "a lost connection counts as a commit",
        "append", _patched(BatchMove, "commit", _swallowed), "8:3"),
    "ledger-apart": Mutant(
        "the ledger row is committed before the rows",
        "append", _patched(BatchMove, "commit", _apart)),
    "own-generation-only": Mutant(
        "a batch is skipped only where the same generation wrote it",
        "append", _patched(DatabaseLedger, "committed", _of_own_generation)),
    "no-lock-no-claim": Mutant(
        "no row is locked, and a batch that another driver claimed first is written all the same",
        "append-first", _neither_lock_nor_claim, "21:1"),
    "older-driver": Mutant(
        "an older driver is not refused",
        "rewind", _patched(LedgerJudge, "refuse_older", _nothing), "2:1"),
    "any-offsets": Mutant(
        "a batch with different offsets counts as the same",
        "replanned", _patched(LedgerJudge, "committed", _any_offsets), "9:1"),
    "prune-forgets-totals": Mutant(
        "pruning the ledger forgets how many rows its batches brought",
        "prune-clear", _patched(QueryState, "pruned", _without_total)),
    "never-swept": Mutant(
        "staging tables of killed drivers stay",
        "append", _patched(StagingTables, "_sweep", _nothing), "4:2"),
    "table-found-early": Mutant(
        "a clear looks for the table before the ledger is closed: one that is made then stays full",
        "clear-first", _patched(DatabaseSink, "_take_back", _found_early), "4:1,10:1"),
    "cleared-query-not-swept": Mutant(
        "staging tables of a query that a clear removed stay",
        "clear-new-query", _patched(DatabaseLedger, "fences", lambda *_: {}), "5:2"),
}  # fmt: skip


def repeat_known(mutant: Mutant, server: Server) -> Ran:
    """Run the schedule that is known to find a mutant."""
    with _staged(mutant, server) as stage:
        return stage.repeat(parsed(mutant.known))


def hunt(mutant: Mutant, server: Server, most: int = MOST_SCHEDULES) -> Explored:
    """Run schedules of its scenario on a mutant until one fails; shrink that one."""
    with _staged(mutant, server) as stage:
        # Every schedule with one deviation, then drawn ones: few bugs need more.
        runs = chain(few_deviations(stage, 1), drawn(stage, count()))
        found = explore(runs, enough=lambda explored: explored.schedules >= most)
        if found.failure is not None:
            found.failure = shrunk(stage, found.failure)
    return found


@contextmanager
def _staged(mutant: Mutant, server: Server) -> Iterator[Stage]:
    with mutant.broken():
        stage = Stage(SCENARIOS[mutant.scenario], server)
        stage.begin()
        try:
            yield stage
        finally:
            stage.close()
