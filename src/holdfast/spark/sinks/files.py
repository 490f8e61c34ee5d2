"""Writes batches as files: each one exactly once, for readers that just list the folder.

The rows are staged beside the output. A manifest that is created once commits them; publishing
moves the files into the output, and rolls forward from the manifest after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.errors import SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers import takingback
from holdfast.ledgers.fileoutput import FileOutput
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.ledgers.manifest import Manifest
from holdfast.ledgers.manifests import ManifestLog, read_manifest_ledger
from holdfast.ledgers.publishing import commit_manifest, publish, remove_leftovers, roll_forward
from holdfast.spark.sinks.filefit import check_folder, check_partitions, check_same, check_types
from holdfast.spark.sinks.filestaging import flush, stage
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
        self._log = ManifestLog(output.reader_of(output.manifests))
        self._known: Manifest | None = None
        """A manifest of this folder: all have the same format, mode and columns."""
        self._ready = False
        self._newest: dict[str, int] = {}
        self.kind = sink.format
        self.identity: str | None = output.location.shown

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - staging hides
        """Refuse rows that the files can't hold, and a folder that is not the sink's own."""
        check_columns(schema, self._sink)
        check_partitions(schema, self._sink)
        check_types(self._session, schema, self._sink)
        self._output.refuse_unwritable()
        with self._asked():
            names = self._output.reader.names(self._output.name)
            self._known = self._log.any_manifest()
            is_ours = self._known is not None or self._log.intent() is not None
        if self._known is not None:
            check_same(schema, self._sink, self._known)
        check_folder(names, self._sink, str(self.identity), known=is_ours)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Stage the rows, commit them by one manifest, publish them; or skip the batch."""
        self._settle()
        if self._holds(identity):
            return skip(batch)
        if self._known is not None:
            check_same(batch.schema, self._sink, self._known)
        self._ready = False
        manifest = stage(batch, identity, self._sink, self._output)
        reach("files.staged")
        flush(self._output, manifest)
        reach("files.flushed")
        delivery = self._commit(manifest)
        self._newest[identity.query_id] = identity.batch_id
        self._known = manifest
        self._ready = True
        return delivery

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that a manifest tells of, without Spark; never raises."""
        try:
            ledger = read_manifest_ledger(self._log.reader)
        except StorageError as error:
            return LastCommitted(None, f"the sink could not be read: {error.message}")
        if ledger is None:
            return LastCommitted(None, "no batch was ever committed to this folder")
        return ledger.last_committed(query_id)

    def queries(self) -> frozenset[str]:
        """Name every query that has a manifest; empty where they can't be read."""
        try:
            return self._log.queries()
        except StorageError:
            return frozenset()

    def rewind(self, query_id: str, batch_id: int) -> None:
        """Take back every batch after this one, with its files."""
        self._ready = False
        takingback.rewind(self._output, query_id, batch_id)

    def clear(self) -> None:
        """Remove every file of the sink, and all that is remembered of batches."""
        self._ready = False
        self._known = None
        takingback.clear(self._output)

    def _settle(self) -> None:
        """Finish what an earlier attempt or run began: at the first batch, and after a failure."""
        if self._ready:
            return
        with self._asked():
            takingback.finish_taking_back(self._output, self._log)
            roll_forward(self._output, self._log)
            self._known = self._log.any_manifest()
            queries = self._log.queries()
            self._newest = {query: self._log.batches(query)[-1] for query in queries}
        self._ready = True

    def _holds(self, identity: BatchIdentity) -> bool:
        """Tell whether the batch is committed; raise where another one of its id is."""
        with self._asked():
            held = self._log.manifest(identity.query_id, identity.batch_id)
        if held is not None:
            self._refuse_other(held, identity)
            return True
        newest = self._newest.get(identity.query_id, -1)
        if newest > identity.batch_id:
            message = f"{self.identity} holds batch {newest}, and no batch {identity.batch_id}"
            raise SinkError("HF5024", message, at=self.identity)
        return False

    def _refuse_other(self, held: Manifest, identity: BatchIdentity) -> None:
        if held.offsets_digest != identity.offsets_digest:
            message = f"{self.identity} holds batch {identity.batch_id} with other offsets"
            raise SinkError("HF5003", message, at=self.identity)

    def _commit(self, manifest: Manifest) -> Delivery:
        """Create the manifest and publish; where another driver was first, keep its batch."""
        reach("sink.before-commit")
        created = commit_manifest(self._output, manifest)
        reach("sink.after-commit")
        with self._asked():
            held = self._log.manifest(manifest.query_id, manifest.batch_id)
        if held is None:
            message = f"the manifest of batch {manifest.batch_id} vanished"
            raise SinkError("HF5022", message, at=self.identity)
        publish(self._output, held)
        reach("files.published")
        remove_leftovers(self._output, self._log, manifest.query_id)
        reach("files.cleaned")
        self._refuse_other(held, manifest.identity)
        # Where an answer was lost on the way, a manifest that was there already is our own.
        is_ours = created or held.staging == manifest.staging
        return Delivery(skipped=not is_ours, rows=manifest.rows if is_ours else None)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Turn what keeps the manifests from being read into an error of the sink."""
        try:
            yield
        except StorageError as error:
            message = f"{self.identity} can't be asked: {error.message}"
            raise SinkError("HF5009", message, at=error.at or self.identity) from error
