"""Start the streaming DataFrame of a program as a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import naming
from holdfast.jobs.sinks import Sink, written_sink
from holdfast.library.answering import several
from holdfast.running.stopping import GRACE_SECONDS
from holdfast.storage.options import FamilyOptions, StorageOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from holdfast.running.report import Watcher
    from holdfast.spark.heldquery import HeldQuery


def start(
    frame: DataFrame,
    *,
    job: str,
    checkpoint: str | Path,
    sink: Sink,
    native: bool = False,
    output_mode: str | None = None,
    trigger: Mapping[str, object] | None = None,
    availableNow: bool | None = None,  # noqa: N803 - pyspark's name
    processingTime: str | None = None,  # noqa: N803 - pyspark's name
    once: bool | None = None,
    accept: Sequence[str] = (),
    pending_delivered: bool | None = None,
    grace_seconds: float = GRACE_SECONDS,
    storage: FamilyOptions | None = None,
    storage_options: StorageOptions = (),
    watch: Watcher | None = None,
) -> HeldQuery:
    """Start a program's own streaming DataFrame as a job, on the checkpoint that it has.

    `sink` is a typed sink such as `DeltaSink(path=…)`, a mapping with the keys of the project file,
    or a function of `(batch, batch_id)`. With `native`, Spark's own sink of this format writes.
    `availableNow=True` (the default), `processingTime="10 seconds"` and `once=True` are the
    triggers of pyspark; `once` runs as `availableNow`. `storage_options` are settings of the
    storage that the checkpoint is on, or the sink where the checkpoint is local.

    The query runs under a lease and leaves records next to the checkpoint. What is returned is used
    like pyspark's StreamingQuery. Raises HoldfastError.
    """
    from holdfast.jobs.built import at_caller, caller_line

    with naming(str(checkpoint), job), at_caller(caller_line()):
        from holdfast.jobs.built import job_of_program
        from holdfast.restart.acceptance import is_acceptance
        from holdfast.spark.session.installation import installed_spark

        installed_spark()
        from holdfast.running.options import RunOptions
        from holdfast.spark.run import start_query

        declared = written_sink(sink)
        if native:
            declared = {**declared, "native": True}
        ready = job_of_program(
            job,
            checkpoint=checkpoint,
            sink=declared,
            output_mode=output_mode,
            trigger=_trigger(trigger, availableNow, processingTime, once),
            storage=storage,
            storage_options=storage_options,
            accept=[name for name in several(accept) if not is_acceptance(name)],
        )
        accepted = frozenset(filter(is_acceptance, several(accept)))
        options = RunOptions(accepted, pending_delivered, grace_seconds)
        return start_query(frame, ready, options, watch or (lambda _event: None))


def _trigger(
    trigger: Mapping[str, object] | None,
    available_now: bool | None,
    processing_time: str | None,
    once: bool | None,
) -> dict[str, object] | None:
    """Return the trigger with the keys of the project file, whose model refuses two of them."""
    named = {"availableNow": available_now, "processingTime": processing_time, "once": once}
    given = {key: value for key, value in named.items() if value is not None}
    return {**(trigger or {}), **given} or None
