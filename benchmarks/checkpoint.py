"""Builds a large checkpoint that real Spark reads: a real one's entries, repeated with new ids."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from holdfast.checkpoint.layout import checksum_name
from holdfast.format.logs.checksums import encode_hadoop_checksum
from holdfast.format.logs.commits import CommitEntry, encode_commit
from holdfast.format.logs.offsets import OffsetsEntry, SourceOffset, decode_offsets, encode_offsets
from holdfast.format.state.operators import OperatorMetadata, decode_operator, encode_operator
from tests.corpus.loading import sample

PARTITIONS = "spark.sql.shuffle.partitions"


def build_checkpoint(root: Path, *, batches: int, partitions: int) -> Path:
    """Write a checkpoint of a windowed aggregation with this history and number of partitions."""
    files = sample("aggregation-hdfs-lz4", "4.2.1").files()
    newest = max(int(name[8:]) for name in files if _is_entry(name, "offsets/"))
    model = decode_offsets(files[f"offsets/{newest}"])
    _put(root, "metadata", files["metadata"])
    for batch_id in range(batches):
        _put(root, f"offsets/{batch_id}", encode_offsets(_entry(model, batch_id, partitions)))
        _put(root, f"commits/{batch_id}", encode_commit(CommitEntry(1, _watermark(batch_id))))
    _build_source_log(root, files, batches)
    _build_state(root, files, batches, partitions)
    return root


def _entry(model: OffsetsEntry, batch_id: int, partitions: int) -> OffsetsEntry:
    assert model.metadata is not None
    metadata = replace(
        model.metadata,
        watermark_ms=_watermark(batch_id - 1) if batch_id else 0,
        timestamp_ms=model.metadata.timestamp_ms + 1000 * batch_id,
        settings={**model.metadata.settings, PARTITIONS: str(partitions)},
    )
    return replace(
        model, metadata=metadata, sources=(SourceOffset("0", f'{{"logOffset":{batch_id}}}'),)
    )


def _watermark(batch_id: int) -> int:
    return 1_700_000_000_000 + 1000 * batch_id


def _build_source_log(root: Path, files: dict[str, bytes], batches: int) -> None:
    """Write the part of the file source's log that is kept: the newest compaction and after."""
    line = files["sources/0/0"].decode().splitlines()[1]
    compact = max(batches // 10 * 10 - 1, 0)
    for log_id in range(compact, batches):
        name = f"{log_id}.compact" if log_id % 10 == 9 else str(log_id)
        kept = range(log_id + 1) if name.endswith(".compact") else range(log_id, log_id + 1)
        lines = [line.replace('"batchId":0', f'"batchId":{one}') for one in kept]
        _put(root, f"sources/0/{name}", "\n".join(["v1", *lines]).encode())


def _build_state(root: Path, files: dict[str, bytes], batches: int, partitions: int) -> None:
    """Write a snapshot of the newest version and its delta in every partition."""
    operator = decode_operator(files["state/0/_metadata/metadata"])
    _put(root, "state/0/_metadata/metadata", encode_operator(_with(operator, partitions)))
    _put(root, "state/0/0/_metadata/schema", files["state/0/0/_metadata/schema"])
    delta = files["state/0/0/1.delta"]
    oldest = max(batches - 9, 1)
    for partition in range(partitions):
        _put(root, f"state/0/{partition}/{oldest}.snapshot", delta)
        for version in range(oldest, batches + 1):
            _put(root, f"state/0/{partition}/{version}.delta", delta)


def _with(operator: OperatorMetadata, partitions: int) -> OperatorMetadata:
    stores = tuple(replace(store, partitions=partitions) for store in operator.stores)
    return replace(operator, stores=stores)


def _is_entry(name: str, folder: str) -> bool:
    return name.startswith(folder) and name[len(folder) :].isdecimal()


def _put(root: Path, path: str, data: bytes) -> None:
    """Write a file with Hadoop's checksum beside it, as Spark does on a local disk."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    (root / checksum_name(path)).write_bytes(encode_hadoop_checksum(data))
