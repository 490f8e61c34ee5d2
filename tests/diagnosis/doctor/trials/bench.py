"""A place to try one situation on real Spark: numbered input files, sinks, what came of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.restarts.errors import chain_of, decisive

FIRST_MODIFIED = 1_767_225_600
CHECKPOINT = "checkpoint"


@dataclass
class Bench:
    """Folders of one trial; `expected` is what a query without any fault would have delivered."""

    spark: Any
    folder: Path
    broker: str = ""
    expected: Counter[str] = field(default_factory=Counter)
    delivered: Counter[str] = field(default_factory=Counter)
    note: str = ""
    failure: Exception | None = None
    """What computing the rows raised: py4j would turn it into text."""

    def put(self, *numbers: int, into: str = "in", every: int = 1) -> None:
        """Write numbered files with two rows each, one modified `every` seconds after the other."""
        place = self.folder / into
        place.mkdir(exist_ok=True)
        for number in numbers:
            file = place / f"{number}.txt"
            file.write_text(f"{into}-{number}-a\n{into}-{number}-b\n", encoding="utf-8")
            moment = FIRST_MODIFIED + number * every
            os.utime(file, (moment, moment))
            self.expected.update(file.read_text(encoding="utf-8").split())

    def lines(self, source: str = "in", **options: object) -> Any:
        """Read a folder of files as a stream, one file a batch."""
        reader = self.spark.readStream.format("text")
        for key, value in {"maxFilesPerTrigger": 1, **options}.items():
            reader = reader.option(key, str(value))
        return reader.load(str(self.folder / source))

    def deliver(
        self, stream: Any, *, checkpoint: str | None = CHECKPOINT, mode: str = "append"
    ) -> None:
        """Run until the input is used up; a function gets the rows, as a plain append would."""

        def keep(rows: Any, _batch_id: int) -> None:
            try:
                found = rows.collect()
            except Exception as error:
                self.failure = error
                raise
            self.delivered.update(" ".join(map(str, row)) for row in found)

        self.run(stream.writeStream.foreachBatch(keep).outputMode(mode), checkpoint)

    def to(self, form: str, stream: Any, *, checkpoint: str = CHECKPOINT, out: str = "out") -> None:
        """Run until the input is used up, into an output folder of a format."""
        writer = stream.writeStream.format(form).option("path", str(self.folder / out))
        self.run(writer, checkpoint)

    def run(self, writer: Any, checkpoint: str | None = CHECKPOINT) -> None:
        """Run a query until its input is used up."""
        if checkpoint is not None:
            place = checkpoint if "://" in checkpoint else str(self.folder / checkpoint)
            writer = writer.option("checkpointLocation", place)
        writer.trigger(availableNow=True).start().awaitTermination()

    def read(self, form: str = "text", out: str = "out") -> None:
        """Take what readers of an output see as what was delivered."""
        rows = self.spark.read.format(form).load(str(self.folder / out)).collect()
        self.delivered = Counter(str(row[0]) for row in rows)

    def reads(self, form: str = "text", out: str = "out") -> None:
        """Note what a reader of the output meets; the start itself is what is judged."""
        try:
            self.read(form, out)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is noted)
            cause = decisive(chain_of(error))
            words = f"{cause.condition or cause.kind}: {cause.message}"
            words = words.replace(str(self.folder), "<folder>")
            self.note = f"a reader of the output fails: {words}"
        else:
            gone, seen = self.expected - self.delivered, sum(self.delivered.values())
            self.note = f"a reader of the output sees {seen} rows, {sum(gone.values())} are missing"
        self.delivered = self.expected.copy()

    def path(self, inside: str, checkpoint: str = CHECKPOINT) -> Path:
        """Name a file of the checkpoint."""
        return self.folder / checkpoint / inside

    def remove(self, *inside: str, checkpoint: str = CHECKPOINT) -> None:
        """Remove files of the checkpoint with the checksums beside them."""
        for one in inside:
            remove(self.path(one, checkpoint))

    def newest(self, pattern: str, checkpoint: str = CHECKPOINT) -> Path:
        """Give the newest numbered file of the checkpoint that fits."""
        found = [one for one in (self.folder / checkpoint).glob(pattern) if one.name[0].isdigit()]
        return max(found, key=lambda one: int(re.findall(r"[0-9]+", one.name)[0]))

    def rewrite_id(self, identity: str) -> None:
        """Give the checkpoint another query id."""
        self.path(".metadata.crc").unlink(missing_ok=True)
        self.path("metadata").write_text(f'{{"id":"{identity}"}}', encoding="utf-8")


def remove(path: Path) -> None:
    """Remove a file with the checksum beside it."""
    path.unlink()
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
