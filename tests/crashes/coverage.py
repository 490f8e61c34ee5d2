"""Lists the 23 moments at which a sink can be hit, and what hits each of them.

The moments are those of the fault model: eight of files, eight of databases, seven of Delta. Where
a kill can't make the moment, such as a conflict with another writer, a test of its own does.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.crashes.cases import TASKS

SINKS = "tests/spark/sinks"


@dataclass(frozen=True)
class Moment:
    """One moment of the fault model."""

    family: str
    what: str
    points: tuple[str, ...] = ()
    """Where the audit kills."""
    tests: tuple[str, ...] = ()
    """What covers it besides, or instead: a file and a function in it."""


MOMENTS: tuple[Moment, ...] = (
    Moment("files", "staging part k of m", (TASKS,)),
    Moment("files", "staged, not on the disk", ("files.staged",),
           (f"{SINKS}/test_files.py::test_files_are_on_the_disk_before_they_are_committed",)),
    Moment("files", "on the disk, not published", ("files.flushed",)),
    Moment("files", "published k of m", ("files.published-one", "files.moved-away")),
    Moment("files", "before the ledger's entry", ("sink.before-commit",)),
    Moment("files", "after the ledger's entry", ("sink.after-commit",)),
    Moment("files", "removal of old staging", ("files.published", "files.marked", "files.cleaned")),
    Moment("files", "second writer", (),
           (f"{SINKS}/promises/test_late_drivers.py::test_both_deliver_the_same_batch",)),
    Moment("postgres", "before the transaction begins",
           ("batch.offsets-kept", "postgres.staging-made", TASKS)),
    Moment("postgres", "staged", ("postgres.staged",)),
    Moment("postgres", "one of rows and ledger in, the other not",
           ("postgres.claimed", "postgres.moved")),
    Moment("postgres", "both in, not committed", ("sink.before-commit",)),
    Moment("postgres", "COMMIT sent, answer lost", (),
           (f"{SINKS}/database/test_sink_postgres_faults.py::test_a_commit_whose_answer_is_lost",)),
    Moment("postgres", "committed, not returned",
           ("sink.after-commit", "postgres.tidied", "batch.left")),
    Moment("postgres", "serialization failure", (),
           (f"{SINKS}/database/test_sink_postgres_faults.py::test_a_serialization_failure_is_tried_again",)),
    Moment("postgres", "connection cut", (),
           (f"{SINKS}/database/test_sink_postgres_faults.py::test_a_connection_that_drops_in_the_middle_of_copy",
            f"{SINKS}/database/test_sink_postgres_faults.py::test_a_commit_whose_answer_is_lost")),
    Moment("delta", "data files without a log entry", (TASKS,)),
    Moment("delta", "before the table is asked",
           ("batch.entered", "batch.offsets-kept", "delta.before-check")),
    Moment("delta", "between asking and committing", ("sink.before-commit",),
           (f"{SINKS}/promises/test_late_drivers.py::test_both_deliver_the_same_batch",)),
    Moment("delta", "conflict", (),
           (f"{SINKS}/delta/test_conflicts.py::test_a_merge_is_tried_again",)),
    Moment("delta", "committed, answer lost", ("sink.after-commit", "batch.left"),
           (f"{SINKS}/delta/test_neighbours.py::test_a_commit_whose_answer_is_lost",)),
    Moment("delta", "two that create the same version", (),
           (f"{SINKS}/delta/test_conflicts.py::test_the_same_batch_of_another_driver",)),
    Moment("delta", "vacuum beside us", (),
           (f"{SINKS}/delta/test_neighbours.py::test_vacuum_beside_a_batch",)),
)  # fmt: skip
