"""What is asked of a checkpoint's state, and the answer: rows, a file of rows, or a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.errors import CheckpointError
from holdfast.findings import Finding, Place, Severity
from holdfast.state.columns import leaf_columns
from holdfast.state.opened import StateAnswer
from holdfast.state.query.values import plain_rows
from holdfast.state.reading import StateView, open_state, partition_bytes
from holdfast.state.results import (
    COUNTED_ROWS,
    FIRST_ROWS,
    MEMORY_BYTES,
    Growth,
    Key,
    StateColumn,
    StateRow,
    StateRows,
    key_columns,
)
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.state.query.conditions import Condition


_ALL_BATCHES = 1_000_000

Progress = Callable[[int, int], None]
"""Is told how many bytes of files were read, and of how many."""


@dataclass(frozen=True)
class Question:
    """Which rows are asked for; by default all of the first store at the newest batch."""

    operator: int | None = None
    store: str | None = None
    batch: int | None = None
    partition: int | None = None
    key: Key | None = None
    where: str | None = None
    memory_bytes: int = MEMORY_BYTES

    @property
    def whole_store(self) -> bool:
        """Nothing of the store is left out."""
        return self.partition is None and self.key is None and self.where is None


@dataclass(frozen=True)
class OpenQuestion:
    """A question, opened: where it leads to, and its rows."""

    view: StateView
    condition: Condition | None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that fit, batch by batch."""
        for batch in self.view.batches():
            fitting = batch if self.condition is None else self.condition.among(batch)
            if len(fitting):
                yield fitting


def open_question(reader: Reader, picture: Picture, question: Question) -> OpenQuestion:
    """Open the store that a question is about; nothing of its rows is read yet."""
    opening = partial(
        open_state,
        reader,
        picture,
        operator=question.operator,
        store=question.store,
        batch=question.batch,
        partition=question.partition,
        memory_bytes=question.memory_bytes,
    )
    view = opening()
    if question.key is not None:
        view = opening(key=key_columns(question.key, view.schema.field("key").type))
    if question.where is None:
        return OpenQuestion(view, None)
    # Conditions take longer to import than the first rows to show.
    from holdfast.state.query.conditions import Condition

    return OpenQuestion(view, Condition(question.where, view.schema))


def show_rows(reader: Reader, question: Question, limit: int | None) -> StateAnswer:
    """Answer with the first rows that fit, by default 20; as a table, with all of them."""
    table_limit, limit = limit, FIRST_ROWS if limit is None else limit
    asked = open_question(reader, read_picture(reader), question)
    shown: list[StateRow] = []
    seen, ended = 0, True
    for batch in asked.batches():
        if len(shown) < limit:
            wanted = plain_rows(batch.slice(0, limit - len(shown)))
            shown += [StateRow(**row) for row in wanted]  # type: ignore[arg-type]
        seen += len(batch)
        if seen > max(limit, COUNTED_ROWS):
            ended = False
            break
    result = replace(
        _described(asked.view),
        rows=tuple(shown),
        total=seen if ended else None,
        complete=ended and len(shown) == seen,
    )
    # The same rows again, whatever is committed meanwhile.
    same = replace(question, batch=asked.view.batch_id)
    answer = _answer(reader, asked.view, question, result)
    return replace(answer, table=lambda: _table(reader, same, table_limit))


def _table(reader: Reader, question: Question, limit: int | None) -> pa.Table:
    """Return the rows that fit as one table."""
    asked = open_question(reader, read_picture(reader), question)
    return pa.Table.from_batches(_Limited(asked.batches(), limit), asked.view.schema)


def write_file(
    reader: Reader,
    question: Question,
    path: Path,
    *,
    limit: int | None,
    checkpoint: Path | None,
    force: bool = False,
    progress: Progress | None = None,
) -> StateAnswer:
    """Answer with a file that holds the rows that fit.

    Nothing is written inside of `checkpoint`; a file that exists is replaced only with `force`.
    """
    # Arrow's writers take longer to import than most rows to show.
    from holdfast.state.query.exporting import output_format, refuse_bad_output, write_rows

    output_format(path)
    refuse_bad_output(path, checkpoint, force=force)
    asked = open_question(reader, read_picture(reader), question)
    limited = _Limited(_with_progress(asked, progress), limit)
    written = write_rows(limited, asked.view.schema, path, force=force)
    total = None if limited.cut else written.rows
    result = replace(_described(asked.view), total=total, complete=not limited.cut, output=written)
    return _answer(reader, asked.view, question, result)


def sum_up(reader: Reader, question: Question, progress: Progress | None = None) -> StateAnswer:
    """Answer with the numbers of the rows that fit."""
    from holdfast.state.query.summary import Summing

    picture = read_picture(reader, history=_ALL_BATCHES)
    asked = open_question(reader, picture, question)
    summing = Summing(asked.view)
    total = 0
    for batch in _with_progress(asked, progress):
        summing.add(batch)
        total += len(batch)
    growth, findings = _growth(reader, asked.view, question, total)
    summary = summing.summary(growth)
    result = replace(_described(asked.view), total=total, complete=True, summary=summary)
    answer = _answer(reader, asked.view, question, result)
    return replace(answer, findings=(*answer.findings, *findings))


def _growth(
    reader: Reader, view: StateView, question: Question, total: int
) -> tuple[Growth | None, list[Finding]]:
    """Look at the oldest batch too; damage there does not spoil the other numbers."""
    if not question.whole_store:
        return None, []
    from holdfast.state.query.summary import growth_since

    named = replace(question, operator=view.operator, store=view.store)

    def open_at(batch: int) -> StateView:
        return open_question(reader, view.log.picture, replace(named, batch=batch)).view

    try:
        return growth_since(view, total, open_at), []
    except CheckpointError as error:
        place = Place(f"state/{view.operator}")
        return None, [Finding(error.code.number, Severity.WARNING, error.message, place)]


def _described(view: StateView) -> StateRows:
    return StateRows(
        operator=view.operator,
        operator_name=view.layout.operator_name,
        store=view.store,
        stores=tuple(one.name for one in view.layouts if not one.internal),
        batch_id=view.batch_id,
        version=view.version,
        partitions=view.partitions,
        columns=tuple(
            StateColumn(one.name, str(one.field.type)) for one in leaf_columns(view.schema)
        ),
        rows=(),
        total=None,
        complete=False,
    )


def _answer(reader: Reader, view: StateView, question: Question, result: StateRows) -> StateAnswer:
    findings = list(view.findings)
    if question.key is not None and result.total == 0:
        findings.append(_no_such_key(view, question))
    return StateAnswer("state", reader.location, result, tuple(findings))


def _no_such_key(view: StateView, question: Question) -> Finding:
    read = ", ".join(map(str, view.partitions)) or "none"
    condition = "" if question.where is None else " and matches the condition"
    message = (
        f"no row of store {view.store} has that key{condition} at batch {view.batch_id} "
        f"(partitions that can contain it: {read})"
    )
    evidence = {"key": question.key, "partitions": list(view.partitions)}
    place = Place(f"state/{view.operator}")
    return Finding("HF2775", Severity.WARNING, message, place, evidence)


def _with_progress(asked: OpenQuestion, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    """Let batches pass, and tell how far reading has come: whole partitions, by their files."""
    sizes = partition_bytes(asked.view)
    total = sum(sizes.values())
    for batch in asked.batches():
        if progress is not None:
            at = batch.column("partition")[0].as_py()
            progress(sum(size for one, size in sizes.items() if one < at), total)
        yield batch


class _Limited:
    """Lets the first rows pass; knows in the end whether there were more."""

    def __init__(self, batches: Iterator[pa.RecordBatch], limit: int | None) -> None:
        self._batches = batches
        self._limit = limit
        self.cut = False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        passed = 0
        for batch in self._batches:
            left = len(batch) if self._limit is None else self._limit - passed
            if left < len(batch):
                self.cut = True
                yield batch.slice(0, left)
                return
            passed += len(batch)
            yield batch
