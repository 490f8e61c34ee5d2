"""Read the rows of stateful operators."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.checkpoint.verification import Progress
from holdfast.errors import UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import names_target
from holdfast.state.results import FIRST_ROWS, MEMORY_BYTES
from holdfast.storage.options import StorageOptions
from holdfast.targets.opening import local_folder, open_target

if TYPE_CHECKING:
    from holdfast.state.opened import OpenedCheckpoint, StateAnswer

__all__ = ["FIRST_ROWS", "MEMORY_BYTES", "open_checkpoint", "read_state"]


@names_target
def read_state(
    target: str | Path,
    *,
    operator: int | None = None,
    store: str | None = None,
    batch: int | None = None,
    partition: int | None = None,
    key: Mapping[str, object] | str | int | None = None,
    where: str | None = None,
    limit: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    summary: bool = False,
    memory_bytes: int = MEMORY_BYTES,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> StateAnswer:
    """Show rows of the state at a batch, write them all to `output`, or sum them up.

    Without `limit` the first 20 rows are shown, and all are written; `to_pandas()`, `to_polars()`
    and `to_arrow()` of the answer return all of them as a table. An existing `output` is replaced
    only with `force`. The checkpoint stays as it is.

    >>> import holdfast
    >>> answer = holdfast.read_state("demo/orders", where="sum > 25")
    >>> [(row.key["shop"], row.value["sum"]) for row in answer.result.rows]
    [('market', '25.50'), ('station', '26.50')]
    """
    from holdfast.state.opened import require_state_extra

    require_state_extra()
    from holdfast.state.query.question import Question, show_rows, sum_up, write_file

    if summary and (output is not None or limit is not None):
        raise UsageError(
            "HF1001", "a summary covers all rows: it cannot be combined with output or limit"
        )
    chosen = ProjectChoice.of(project, profile)
    found, reader = open_target(target, chosen, storage_options, timeout)
    question = Question(
        operator=operator,
        store=store,
        batch=batch,
        partition=partition,
        key=key,
        where=where,
        memory_bytes=memory_bytes,
    )
    if summary:
        return sum_up(reader, question, progress)
    if output is None:
        return show_rows(reader, question, limit)
    folder = local_folder(found.location)
    return write_file(
        reader,
        question,
        Path(output),
        limit=limit,
        checkpoint=folder,
        force=force,
        progress=progress,
    )


def open_checkpoint(
    target: str | Path,
    *,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    timeout: float | None = None,
) -> OpenedCheckpoint:
    """Open a checkpoint whose state is to be read as Arrow: `open_checkpoint(path).state()`.

    >>> import holdfast
    >>> holdfast.open_checkpoint("demo/orders").state().read_all().num_rows
    9
    """
    from holdfast.state.opened import OpenedCheckpoint

    chosen = ProjectChoice.of(project, profile)
    _, reader = open_target(target, chosen, storage_options, timeout)
    return OpenedCheckpoint(reader)
