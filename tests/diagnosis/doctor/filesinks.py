"""A file sink in memory: its output folder, its manifests and its staging, healthy or damaged."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.diagnosis.doctor.doctor import Examinee
from holdfast.diagnosis.inspection.runs.recorded import NOTHING_RECORDED, Recorded
from holdfast.ledgers.files.format import (
    INTENT,
    Epochs,
    Intent,
    Manifest,
    ManifestFile,
    encode_epochs,
    encode_intent,
    encode_manifest,
)
from holdfast.ledgers.files.manifests import epochs_path, manifest_path, mark_path
from holdfast.ledgers.reading import SinkMemory, SinkPlace
from holdfast.ledgers.sinkstate import OwnLedger
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader
from tests.diagnosis.doctor.examining import OUTPUT, Files, examinee

BESIDE = "/lake/.holdfast/out"
ROWS = b"three rows of a batch"


def manifest(query_id: str, batch_id: int, mode: str = "append") -> Manifest:
    """Give the manifest of a batch with two files."""
    final = "part-{1}.csv" if mode == "complete" else "part-{0:010d}-{1}.csv"
    files = tuple(
        ManifestFile(final.format(batch_id, number), f"part-{number}.csv", len(ROWS), None)
        for number in range(2)
    )
    return Manifest(
        query_id, batch_id, 1, f"d{batch_id}", "csv", mode, (), {"fields": []}, None,
        f"2026-11-16T06:00:{batch_id:02d}.000Z", f"{batch_id:010d}-1-abcdef", files,
    )  # fmt: skip


class FileSink:
    """A file sink that took some batches; damage it, then give it to a checkpoint."""

    def __init__(self, query_id: str, batches: Iterable[int], mode: str = "append") -> None:
        self.query_id = query_id
        self.output: Files = {}
        self.beside: Files = {}
        for batch_id in batches:
            one = manifest(query_id, batch_id, mode)
            self.beside[f"manifests/{manifest_path(query_id, batch_id)}"] = encode_manifest(one)
            self.output |= dict.fromkeys((file.path for file in one.files), ROWS)

    def staged(self, path: str, content: bytes = ROWS) -> FileSink:
        """Put a file into this query's staging."""
        self.beside[f"staging/{self.query_id}/{path}"] = content
        return self

    def unpublished(self, batch_id: int, mode: str = "append") -> FileSink:
        """Let the first file of a batch lie in staging still."""
        one = manifest(self.query_id, batch_id, mode)
        del self.output[one.files[0].path]
        return self.staged(f"{one.staging}/{one.files[0].staged}").staged(f"{one.staging}/_SUCCESS")

    def holding(self, path: str, content: bytes) -> FileSink:
        """Put a file into the output."""
        self.output[path] = content
        return self

    def losing(self, path: str) -> FileSink:
        """Take a file away, from the output or from beside it."""
        (self.beside if path in self.beside else self.output).pop(path)
        return self

    def manifested(self, batch_id: int, content: bytes) -> FileSink:
        """Write other bytes in place of a manifest."""
        self.beside[f"manifests/{manifest_path(self.query_id, batch_id)}"] = content
        return self

    def taking_back(self, intent: Intent) -> FileSink:
        """Begin to take batches back."""
        self.beside[f"manifests/{INTENT}"] = encode_intent(intent)
        return self

    def marked(self, batch_id: int) -> FileSink:
        """Mark a batch as published."""
        path = mark_path(manifest(self.query_id, batch_id))
        self.beside[f"published/{path}"] = b"0000000000-1-abcdef\n"
        return self

    def knowing(self, epochs: Epochs) -> FileSink:
        """Write the epochs of the manifests."""
        self.beside[f"manifests/{epochs_path(epochs.number)}"] = encode_epochs(epochs)
        return self

    def place(self) -> SinkPlace:
        """Give it as a sink that can be asked."""
        return SinkPlace(
            OUTPUT,
            lambda folder: _opened(self.output, OUTPUT, folder),
            open_beside=lambda folder: _opened(self.beside, BESIDE, folder),
        )


def with_sink(
    files: Files, sink: FileSink | SinkPlace, *, recorded: Recorded = NOTHING_RECORDED
) -> tuple[Examinee, ...]:
    """Give a checkpoint with this sink."""
    from dataclasses import replace

    place = sink.place() if isinstance(sink, FileSink) else sink
    return (replace(examinee(files, recorded=recorded), sink=place),)


def ledger(newest: dict[str, int], kind: str = "postgres") -> SinkPlace:
    """Give a database or a function whose ledger holds these queries."""
    where = "postgresql://db/gold readings"
    found = OwnLedger(kind, where, "holdfast_ledger in the database", newest)
    return SinkPlace(where, asked=lambda: SinkMemory(where, own=found, is_folder=False))


def _opened(files: Files, location: str, folder: str) -> Reader:
    start = f"{folder}/" if folder else ""
    below = {path.removeprefix(start): data for path, data in files.items()
             if path.startswith(start)}  # fmt: skip
    return MemoryReader(below, location=f"{location}/{folder}" if folder else location)
