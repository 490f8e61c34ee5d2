"""Writes batches as files: each one exactly once, for readers that just list the folder.

The rows are staged beside the output. A manifest that is created once commits them; publishing
moves the files into the output, and rolls forward from the manifest after a crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.files.commit import FileCommits, asked
from holdfast.ledgers.files.manifest import Manifest
from holdfast.ledgers.files.manifests import read_manifest_ledger
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.files.sight import look_at_folder
from holdfast.ledgers.heldoffsets import HeldOffsets
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.ledgers.sinksight import SinkSight
from holdfast.spark.sinks.files.fit import check_folder, check_partitions, check_same, check_types
from holdfast.spark.sinks.files.staging import stage
from holdfast.spark.sinks.sink import Delivery
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.sinks.tablefit import check_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class FileSink:
    """A folder of files that takes the batches of one job."""

    promise = (
        "every batch once, for readers that list the folder: one that is committed with the same "
        "offsets is skipped, one with other offsets stops the job; while a batch is published, "
        "such a reader may see a part of it"
    )

    def __init__(self, session: SparkSession, sink: ReadySink, output: FileOutput) -> None:
        self._session = session
        self._sink = sink
        self._output = output
        self._commits = FileCommits(output)
        self.kind = sink.format
        self.identity: str | None = output.location.shown

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - staging hides
        """Refuse rows that the files can't hold, and a folder that is not the sink's own."""
        check_columns(schema, self._sink)
        check_partitions(schema, self._sink)
        check_types(self._session, schema, self._sink)
        self._output.refuse_unwritable()
        with asked(str(self.identity)):
            names = self._output.reader.names(self._output.name)
        is_ours = self._commits.look()
        self._check_same(schema)
        check_folder(names, self._sink, str(self.identity), known=is_ours)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Stage the rows, commit them by one manifest, publish them; or skip the batch."""

        def staged(folder: str) -> Manifest:
            self._check_same(batch.schema)
            return stage(batch, identity, self._sink, self._output, folder)

        committed = self._commits.deliver(identity, staged)
        if not committed.was_staged:
            return skip(batch)
        return Delivery(skipped=committed.skipped, rows=committed.rows)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that a manifest tells of, without Spark; never raises."""
        try:
            ledger = read_manifest_ledger(self._commits.log.reader)
        except (SinkError, StorageError) as error:
            return LastCommitted.unknown(f"the sink could not be read: {error.message}")
        if ledger is None:
            return LastCommitted.nothing("no batch was ever committed to this folder")
        return ledger.last_committed(query_id)

    def offsets_of(self, query_id: str, batch_id: int) -> HeldOffsets:
        """Return what the ledger has of one batch; never raises."""
        return self._commits.log.offsets_of(query_id, batch_id)

    def sight(self, query_id: str | None) -> SinkSight:
        """Return what is in the folder and what its manifests hold of the query."""
        with asked(str(self.identity)):
            return look_at_folder(self._output, self._commits.log, query_id)

    def queries(self) -> frozenset[str]:
        """Name every query that has a manifest; empty where they can't be read."""
        try:
            return self._commits.log.queries()
        except (SinkError, StorageError):
            return frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch after this one, with its files."""
        self._commits.rewind(query_id, batch_id, generation=generation)

    def clear(self, *, generation: int) -> None:
        """Remove every file of the sink, and all that is remembered of batches."""
        self._commits.clear(generation=generation)

    def _check_same(self, schema: StructType) -> None:
        if self._commits.known is not None:
            check_same(schema, self._sink, self._commits.known)
