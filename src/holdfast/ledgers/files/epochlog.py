"""Appends to the epochs of a file sink, and watches them for a fence.

The documents are a log: each number is created once, on top of the greatest one, and whoever was
beaten reads again. Documents below the greatest are never looked at, so they can be removed, and
one that is created late at the number of a removed one has no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.errors import SinkError
from holdfast.ledgers.files.format import EPOCHS, STOP, STOP_NAME, Epochs, Manifest, encode_epochs
from holdfast.ledgers.files.manifests import ManifestLog, epochs_path
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.identity import BatchIdentity

Change = Callable[[Epochs], Epochs | None]
"""Gives what is to follow, None where nothing is left to do; raises to refuse."""

_TRIES = 100
_KEPT = 2
"""How many documents stay: whoever listed the newest one a moment ago still finds it."""


class TakenBackError(SinkError):
    """A batch, or all that a driver could write, was taken back under a newer lease."""


def append_epochs(output: FileOutput, log: ManifestLog, change: Change) -> Epochs:
    """Change the epochs in one atomic act, and return them; only when they say it, it is done."""
    for _ in range(_TRIES):
        head = log.head()
        changed = change(head)
        if changed is None:
            return head
        following = replace(changed, number=head.number + 1)
        _make(output, f"{output.manifests}/{epochs_path(following.number)}", following)
        _prune(output, log, following.number)
    message = f"{output.location.shown}: other processes keep changing the epochs of the manifests"
    raise SinkError("HF5009", message, at=output.location.shown)


def open_query(output: FileOutput, log: ManifestLog, query_id: str, generation: int) -> Epochs:
    """Make a driver known before it writes; raise SinkError where it comes after a fence."""

    def change(head: Epochs) -> Epochs | None:
        refuse_late(head, query_id, generation, output.location.shown)
        if head.generations.get(query_id, -1) >= generation:
            return None
        return head.opened(query_id, generation)

    return append_epochs(output, log, change)


def refuse_late(epochs: Epochs, query_id: str, generation: int, shown: str) -> None:
    """Raise SinkError for a driver older than the lease under which batches were taken back."""
    fenced = epochs.fenced_below(query_id)
    if generation < fenced:
        message = (
            f"query {query_id} was rewound under lease generation {fenced}; this driver has "
            f"generation {generation}"
        )
        raise TakenBackError("HF5025", message, at=shown)


class EpochWatch:
    """What a driver knows of the epochs, and whether that has changed."""

    def __init__(self, log: ManifestLog, shown: str) -> None:
        self._log = log
        self._shown = shown
        self.epochs = Epochs()
        self.driver: BatchIdentity | None = None
        """Whose query and generation are refused where a fence says so."""

    def look(self) -> Epochs:
        """Read the epochs again if a newer document is there; raise SinkError for a late driver.

        An old driver must not learn the new epoch of a batch without being refused.
        """
        if self._log.epochs_number() != self.epochs.number:
            epochs = self._log.head()
            if self.driver is not None:
                driver = self.driver
                refuse_late(epochs, driver.query_id, driver.generation, self._shown)
            self.epochs = epochs
        return self.epochs

    def refuse_void(self, manifest: Manifest) -> None:
        """Raise SinkError where the batch was taken back since it was begun."""
        if self.look().epoch(manifest.query_id, manifest.batch_id) != manifest.epoch:
            message = f"batch {manifest.batch_id} was rewound while this driver wrote it"
            raise TakenBackError("HF5025", message, at=self._shown)


def make_old_versions_stop(output: FileOutput) -> None:
    """Leave what a version without epochs can't read: it would write batches a second time."""
    output.writer.create(f"{output.manifests}/{EPOCHS}/{STOP_NAME}", (STOP,))


def _make(output: FileOutput, path: str, epochs: Epochs) -> None:
    output.writer.create(path, (encode_epochs(epochs),))
    output.writer.settle()


def _prune(output: FileOutput, log: ManifestLog, made: int) -> None:
    """Remove documents that nobody looks at any more."""
    for number in log.epoch_numbers():
        if number <= made - _KEPT:
            output.writer.remove(f"{output.manifests}/{epochs_path(number)}")
