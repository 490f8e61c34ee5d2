"""A job from JSON files to JSON files whose batches were delivered without Spark."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import yaml

from holdfast.format.logs.checksums import encode_hadoop_checksum
from holdfast.jobs.discovery import ProjectChoice
from holdfast.ledgers.files.commit import FileCommits
from holdfast.ledgers.files.format import Manifest, ManifestFile
from holdfast.ledgers.files.held import HeldFiles
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.identity import BatchIdentity, OffsetRange
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Run, Versions
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings

QUERY = "5a1f3f0e-0000-4000-8000-000000000001"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass":
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
}  # fmt: skip
MOMENT_MS = 1_760_000_000_000
SCHEMA = {"type": "struct", "fields": []}


class Played:
    """A project in a folder, with what Spark and the sink would have left after some batches."""

    def __init__(self, folder: Path, **job: object) -> None:
        self.folder = folder
        self.file = folder / "holdfast.yaml"
        self.checkpoint = folder / "checkpoints" / "job"
        self.output = folder / "lake" / "written"
        (folder / "in").mkdir(parents=True)
        source = {"format": "json", "path": "./in", "schema": "n long"}
        sink = {"format": "json", "path": "./lake/written"}
        declared = {"source": source, "sql": "select * from source", "sink": sink, **job}
        document = {"project": "played", "jobs": {"job": declared}}
        self.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        self._write("metadata", json.dumps({"id": QUERY}))

    def plan(self, batch: int, first: int = 0) -> None:
        """Let a file arrive, and plan the batch that reads it."""
        arrived = self.folder / "in" / f"{batch:03d}-{first}.json"
        arrived.write_text(json.dumps({"n": first + batch}), encoding="utf-8")
        entry = {"path": f"file://{arrived}", "timestamp": MOMENT_MS, "batchId": batch}
        if not (self.checkpoint / "sources/0" / str(batch)).exists():
            self._write(f"sources/0/{batch}", "v1\n" + json.dumps(entry))
        metadata = {
            "batchWatermarkMs": 0, "batchTimestampMs": self.moment(batch) + first,
            "conf": SETTINGS,
        }  # fmt: skip
        self._write(f"offsets/{batch}", f'v1\n{json.dumps(metadata)}\n{{"logOffset":{batch}}}')

    def deliver(self, batch: int, first: int = 0, generation: int = 1) -> bool:
        """Deliver a planned batch as the gate and the sink do; False where it was skipped."""
        entry = (self.checkpoint / f"offsets/{batch}").read_bytes()
        copies = OffsetCopies(self.records)
        previous = b""
        if batch:
            previous = (self.checkpoint / f"offsets/{batch - 1}").read_bytes()
            copies.keep_previous(QUERY, batch - 1, previous)
        copies.keep(QUERY, batch, entry)
        identity = OffsetRange(batch, previous, entry).identity(QUERY, generation)
        output = FileOutput(parse_location(str(self.output)), StorageSettings())

        def stage(folder: str) -> Manifest:
            return staged(output, folder, identity, json.dumps({"n": first + batch}))

        return not FileCommits(output).deliver(identity, stage).skipped

    def commit(self, batch: int) -> None:
        """Commit a delivered batch, as Spark does."""
        self._write(f"commits/{batch}", 'v1\n{"nextBatchWatermarkMs":0}')

    def run(self, *batches: int, first: int = 0, generation: int = 1) -> None:
        """Plan, deliver and commit batches."""
        for batch in batches:
            self.plan(batch, first)
            assert self.deliver(batch, first, generation)
            self.commit(batch)

    def record(self, generation: int) -> None:
        """Record a run, as the newest."""
        place = f"file://{self.checkpoint}"
        versions = Versions("0.1.0", "4.2.0", "3.11", "17")
        run = Run(
            job="job", project="played", checkpoint=place, generation=generation,
            versions=versions, started_at="2026-11-16T06:00:00.000Z", query_id=QUERY,
        )  # fmt: skip
        History(self.records).write(run)

    @property
    def records(self):  # type: ignore[no-untyped-def]
        """The folder of records."""
        return records_of(parse_location(str(self.checkpoint)), StorageSettings())

    @property
    def project(self) -> ProjectChoice:
        """The project, as commands find it."""
        return ProjectChoice.of(self.file, None)

    def moment(self, batch: int) -> int:
        """Give when a batch was planned."""
        return MOMENT_MS + batch * 60_000

    def rows(self) -> Counter[int]:
        """Give the rows that a plain reader sees."""
        files = [one for one in self.output.rglob("*.json") if not one.name.startswith(".")]
        return Counter(json.loads(one.read_text(encoding="utf-8"))["n"] for one in files)

    def held(self) -> int | None:
        """Give the newest batch in the sink."""
        output = FileOutput(parse_location(str(self.output)), StorageSettings())
        return HeldFiles(output, "json").last_committed(QUERY).value

    def tree(self) -> dict[str, bytes | None]:
        """Give every file and folder of the checkpoint."""
        found = sorted(self.checkpoint.rglob("*"))
        return {
            str(one.relative_to(self.checkpoint)): None if one.is_dir() else one.read_bytes()
            for one in found
        }

    def ids(self, log: str) -> list[int]:
        """Give the batches of a log."""
        return sorted(int(one.name) for one in (self.checkpoint / log).glob("[0-9]*"))

    def _write(self, path: str, text: str) -> None:
        file = self.checkpoint / path
        file.parent.mkdir(parents=True, exist_ok=True)
        content = text.encode()
        file.write_bytes(content)
        file.with_name(f".{file.name}.crc").write_bytes(encode_hadoop_checksum(content))


def staged(output: FileOutput, folder: str, identity: BatchIdentity, *rows: str) -> Manifest:
    """Write one file a row into a staging folder, and describe it."""
    files = []
    for at, row in enumerate(rows):
        name = f"part-{at:05d}.json"
        output.writer.replace(f"{folder}/{name}", (row.encode(),))
        final = f"q-{identity.batch_id:010d}-{folder.rpartition('/')[2]}-{name}"
        files.append(ManifestFile(final, name, len(row), None))
    return Manifest(
        identity.query_id, identity.batch_id, identity.generation, identity.offsets_digest, "json",
        "append", (), SCHEMA, None, "2026-11-16T06:00:00.000Z", folder.rpartition("/")[2],
        tuple(files),
    )  # fmt: skip


def played(folder: Path, batches: int = 4, **job: object) -> Played:
    """Give a project whose job delivered so many batches."""
    made = Played(folder, **job)
    made.run(*range(batches))
    return made
