"""The column by which a database sink finds the rows of a batch again."""

from __future__ import annotations

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink


def rewound_column(sink: ReadySink) -> str:
    """Give the column that tells which batch brought a row; raise HF5011 where none does."""
    if sink.mode == "append" and sink.batch_column is not None:
        return sink.batch_column
    message = "batches are taken back from appended rows alone, and with a `batch_column`"
    why = "without it nothing tells which rows a batch brought; an upsert replaced older ones"
    raise SinkError("HF5011", message, at=sink.at, why=why)
