"""Marks a function of the user's as one that is to be called once a batch, by a ledger."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

from holdfast.ledgers.custom.batchledger import BatchLedger, ledger_beside
from holdfast.storage.location import Location, parse_location
from holdfast.storage.options import OptionValue, StorageSettings

Function = Callable[..., Any]
StorageOptions = Mapping[str, Mapping[str, OptionValue]]

_MARK = "_holdfast_ledger"


@dataclass(frozen=True)
class LedgerWish:
    """Where the ledger of a function is wanted."""

    place: str | None
    """None: with the records beside the checkpoint."""
    storage: StorageSettings = field(default_factory=StorageSettings)

    def ledger(
        self, checkpoint: Location, settings: StorageSettings, folder: os.PathLike[str]
    ) -> BatchLedger:
        """Give the ledger; a relative place counts from `folder`.

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
    *, ledger: str | os.PathLike[str], storage: StorageOptions | None = None
) -> Callable[[Function], Function]: ...


def once_per_batch(
    function: Function | None = None,
    /,
    *,
    ledger: str | os.PathLike[str] | None = None,
    storage: StorageOptions | None = None,
) -> Function | Callable[[Function], Function]:
    """Keep a ledger for the function of a custom sink: a batch that it holds is not handed on.

    It lies beside the checkpoint, or at the place that `ledger` names. A crash between the
    function's write and the ledger's entry calls the function again with the same identity: what
    it wrote under `identity.key` has to be replaced by what it writes then.
    """
    place = None if ledger is None else os.fspath(ledger)
    wish = LedgerWish(place, StorageSettings(storage or {}))
    if function is not None:
        return _marked(function, wish)
    return lambda given: _marked(given, wish)


def wish_of(function: Function) -> LedgerWish | None:
    """Give what a function was marked with, None where it was not."""
    wish = getattr(function, _MARK, None)
    return wish if isinstance(wish, LedgerWish) else None


def _marked(function: Function, wish: LedgerWish) -> Function:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    setattr(called, _MARK, wish)
    return called
