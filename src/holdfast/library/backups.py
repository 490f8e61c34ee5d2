"""Make, verify, list and restore backups of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.verification import Progress
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import names_target
from holdfast.storage.options import StorageOptions

if TYPE_CHECKING:
    from holdfast.backup.results import BackupList, BackupReport, Restoration


@names_target
def back_up(
    target: str | Path,
    *,
    verify: bool = False,
    sink_log: str | Path | None = None,
    keep_last: int | None = None,
    keep_within_days: float | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
) -> Answer[BackupReport]:
    """Copy a checkpoint into the store next to it and verify the copy; `verify`: only verify.

    With `verify`, `target` may be `TARGET@ID` for one backup; otherwise all are read again.

    >>> import holdfast
    >>> report = holdfast.back_up("demo/orders").result
    >>> report.act.value, report.copied_files == report.verified_files
    ('made', True)
    """
    from holdfast.backup.commands import Caller
    from holdfast.backup.store import Retention

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options)
    if verify:
        return caller.verify(str(target), progress=progress)
    return caller.back_up(
        str(target),
        retention=Retention(keep_last, keep_within_days),
        sink_log=None if sink_log is None else str(sink_log),
        progress=progress,
    )


@names_target
def list_backups(
    target: str | Path | None = None,
    *,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
) -> Answer[BackupList]:
    """List the backups of a checkpoint, or of every job of the project; nothing is written.

    >>> import holdfast
    >>> made = holdfast.back_up("demo/orders")
    >>> (place,) = holdfast.list_backups("demo/orders").result.places
    >>> place.backups[0].last_committed
    4
    """
    from holdfast.backup.commands import Caller

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options)
    return caller.list_backups(None if target is None else str(target))


@names_target
def restore(
    backup: str,
    *,
    to: str | Path | None = None,
    sink_log_to: str | Path | None = None,
    files: Sequence[str] = (),
    even_if_running: bool = False,
    confirm: Callable[[str], bool] | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Answer[Restoration]:
    """Restore a backup (`TARGET@ID` or `TARGET@newest`); the current files are backed up first.

    With `sink_log_to`, only the log of the sink is written, to that empty location. `confirm` is
    called with what will be done, before the lease is taken; if it returns False, nothing is
    written. Raises HF4505 if files changed meanwhile, and HF2601 if another process holds the lease
    on the checkpoint; `waiting` is called with that holder if it takes up to 30 seconds to find out
    whether it is alive.

    >>> import holdfast
    >>> made = holdfast.back_up("demo/orders")
    >>> holdfast.restore("demo/orders@newest", to="copies/orders").result.act.value
    'restored'
    """
    from holdfast.backup.commands import Caller
    from holdfast.targets.opening import asking_sink

    chosen = ProjectChoice.of(project, profile)
    sink_of = partial(asking_sink, storage_options=storage_options)
    caller = Caller(chosen, storage_options, waiting=waiting, sink_of=sink_of)
    if sink_log_to is not None:
        return caller.write_sink_log(
            backup, to=str(sink_log_to), files=files, confirm=confirm, progress=progress
        )
    return caller.restore(
        backup,
        to=None if to is None else str(to),
        files=files,
        even_if_running=even_if_running,
        confirm=confirm,
        progress=progress,
    )


@names_target
def settle_restore(
    target: str | Path,
    *,
    finish: bool,
    confirm: Callable[[str], bool] | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Answer[Restoration]:
    """Finish an interrupted restore of a checkpoint, or undo it.

    Takes the lease on the checkpoint as `restore` does, and `confirm` where there is one.

    >>> import holdfast
    >>> holdfast.settle_restore("demo/orders", finish=True).result.act.value
    'nothing'
    """
    from holdfast.backup.commands import Caller

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options, waiting=waiting)
    return caller.settle(str(target), finish=finish, confirm=confirm, progress=progress)
