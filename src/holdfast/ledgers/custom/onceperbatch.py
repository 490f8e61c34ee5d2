"""Marks a function of the user's as one that is to be called once a batch, by a ledger."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

from holdfast.ledgers.custom.batchledger import BatchLedger, ledger_beside
from holdfast.storage.location import Location, parse_location
from holdfast.storage.options import (
    FamilyOptions,
    StorageOptions,
    StorageSettings,
    settings_given,
)

Function = Callable[..., Any]

_MARK = "_holdfast_ledger"


@dataclass(frozen=True)
class LedgerOptions:
    """Where the ledger of a function is wanted."""

    place: str | None
    """None: with the records next to the checkpoint."""
    storage: StorageSettings = field(default_factory=StorageSettings)

    def ledger(
        self, checkpoint: Location, settings: StorageSettings, folder: os.PathLike[str]
    ) -> BatchLedger:
        """Return the ledger; a relative place counts from `folder`.

        A place in the same kind of storage as the checkpoint is reached as the checkpoint is.
        """
        if self.place is None:
            return ledger_beside(checkpoint, settings)
        location = parse_location(self.place, relative_to=Path(folder))
        known = settings if location.scheme == checkpoint.scheme else StorageSettings()
        return BatchLedger(location, known.overridden_by(self.storage))


@overload
def once_per_batch(function: Function, /) -> Function: ...


@overload
def once_per_batch(
    *,
    ledger: str | os.PathLike[str],
    storage: FamilyOptions | None = None,
    storage_options: StorageOptions = (),
) -> Callable[[Function], Function]: ...


def once_per_batch(
    function: Function | None = None,
    /,
    *,
    ledger: str | os.PathLike[str] | None = None,
    storage: FamilyOptions | None = None,
    storage_options: StorageOptions = (),
) -> Function | Callable[[Function], Function]:
    """Keep a ledger for the function of a custom sink: a batch already in it is skipped.

    It is next to the checkpoint, or at the location that `ledger` names. A crash between the
    function's write and the ledger's entry calls the function again with the same identity: what
    it wrote under `identity.key` has to be replaced by what it writes then.

    `storage_options` are settings of the storage that `ledger` names; `storage` has the form of
    `storage:` in the project file.

    >>> @once_per_batch
    ... def deliver(batch, batch_id):
    ...     batch.write.mode("append").parquet("lake/orders")
    >>> deliver.__name__
    'deliver'
    """
    place = None if ledger is None else os.fspath(ledger)
    scheme = "file" if place is None else parse_location(place).scheme
    given = settings_given(scheme, storage_options)
    wish = LedgerOptions(place, StorageSettings(storage or {}).overridden_by(given))
    if function is not None:
        return _marked(function, wish)
    return lambda given: _marked(given, wish)


def ledger_options_of(function: Function) -> LedgerOptions | None:
    """Return what a function was marked with, None where it was not."""
    wish = getattr(function, _MARK, None)
    return wish if isinstance(wish, LedgerOptions) else None


def _marked(function: Function, wish: LedgerOptions) -> Function:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    setattr(called, _MARK, wish)
    return called
