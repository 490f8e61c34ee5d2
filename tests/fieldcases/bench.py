"""A place to make one field case: input, a project file, `holdfast` as a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.diagnosis.doctor.trials.bench import CHECKPOINT, FIRST_MODIFIED, Bench

JOB = "orders"
SCHEMA = "user string, city string, amount long"


@dataclass
class CaseBench(Bench):
    """Folders of one case, and what `holdfast` said of them before the judged start."""

    database: str = ""
    """The JDBC URL that the name of a database is added to, where the case needs one."""
    told: dict[str, str] = field(default_factory=dict)
    """Code to the worst severity of its findings."""
    asked: str = ""
    """The command that told it."""
    declared: str = JOB
    """The job that is asked about."""
    refused: str = ""
    """The code with which `holdfast run` refuses the start, where that was tried."""
    kept: Path | None = None
    """A copy of everything as it was examined."""
    held: AbstractContextManager[object] = field(default_factory=nullcontext)
    """What the case has started and the recorder ends."""
    at_examination: Counter[str] = field(default_factory=Counter)

    def orders(self, *numbers: int, into: str = "in", expect: bool = True) -> None:
        """Write numbered files of orders, two rows each."""
        place = self.folder / into
        place.mkdir(exist_ok=True)
        for number in numbers:
            rows = [{"user": f"u{one}", "city": f"c{number % 2}", "amount": number + one}
                    for one in (1, 2)]  # fmt: skip
            file = place / f"{number}.json"
            file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            os.utime(file, (FIRST_MODIFIED + number, FIRST_MODIFIED + number))
            if expect:
                self.expected.update(" ".join(map(str, row.values())) for row in rows)

    def view(self, name: str = "source", folder: str = "in") -> Any:
        """Read orders as a stream, one file per batch, and give it a name for SQL."""
        reader = self.spark.readStream.format("json").schema(SCHEMA)
        stream = reader.option("maxFilesPerTrigger", "1").load(str(self.folder / folder))
        stream.createOrReplaceTempView(name)
        return stream

    def sql(self, text: str) -> Any:
        """Make a query of the views."""
        return self.spark.sql(text)

    def totals(self, stream: Any, mode: str = "update", checkpoint: str = CHECKPOINT) -> None:
        """Run until the input is used up; the newest row of each key counts."""
        before = self.delivered
        self.delivered = Counter()
        newest: dict[str, str] = dict(one.split(" ", 1) for one in before)

        def keep(rows: Any, _batch_id: int) -> None:
            try:
                found = rows.collect()
            except Exception as error:
                self.failure = error
                raise
            newest.update({str(row[0]): " ".join(map(str, row[1:])) for row in found})

        try:
            self.run(stream.writeStream.foreachBatch(keep).outputMode(mode), checkpoint)
        finally:
            self.delivered = Counter(f"{key} {value}" for key, value in newest.items())

    def declare(self, *others: str, storage: object = None, **job: object) -> None:
        """Write the project file with one job on the checkpoint, and others that are the same."""
        self.declare_as(JOB, *others, storage=storage, **job)

    def declare_as(self, *names: str, storage: object = None, **job: object) -> None:
        """Write the project file with jobs of these names on one checkpoint."""
        self.declared = names[0]
        plain: dict[str, object] = {"sink": {"format": "console"}, "checkpoint": f"./{CHECKPOINT}"}
        if "sources" not in job:
            plain["source"] = self.declared_folder("in")
        document: dict[str, object] = {"project": "shop"}
        document["jobs"] = {name: {**plain, **job} for name in names}
        if storage is not None:
            document["storage"] = storage
        # JSON is YAML.
        (self.folder / "holdfast.yaml").write_text(json.dumps(document), encoding="utf-8")

    def declared_folder(self, folder: str) -> dict[str, object]:
        """Declare a folder of orders as a source."""
        return {"format": "json", "path": f"./{folder}", "schema": SCHEMA}

    def unchanged(self, **job: object) -> None:
        """Have the job examined before anything is changed: there is nothing to warn of."""
        self.declare(**job)
        loud = [one for one in self._ask("doctor")["findings"] if one["severity"] != "info"]
        assert not loud, loud

    def examine(self, command: str = "doctor", *, keep: bool = True) -> Mapping[str, Any]:
        """Ask `holdfast` in a process of its own, and keep everything as it is now for a step."""
        answer = self._ask(command)
        for finding in reversed(answer["findings"]):
            self.told[finding["code"]] = finding["severity"]
        if answer["error"] is not None:
            self.told[answer["error"]["code"]] = "error"
        self.asked = command
        if keep:
            self.kept = self.folder.with_name(f"{self.folder.name}-kept")
            shutil.copytree(self.folder, self.kept, symlinks=True, dirs_exist_ok=True)
        self.at_examination = self.delivered.copy()
        return answer

    def try_to_run(self) -> None:
        """Start the declared job with `holdfast run`, which has to refuse it."""
        (job,) = self._ask("run")["result"]["jobs"]
        assert (job["ended"], job["batches"]) == ("refused", 0), job
        self.refused = job["failure"]["code"]

    def _ask(self, command: str) -> dict[str, Any]:
        words = [sys.executable, "-m", "holdfast", command, self.declared, "--json"]
        words += ["--project", str(self.folder / "holdfast.yaml")]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        answer: dict[str, Any] = json.loads(ended.stdout)
        return answer

    def put_back(self) -> None:
        """Bring every file back to what it was when it was examined."""
        assert self.kept is not None
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder, symlinks=True)
        self.delivered = self.at_examination.copy()
        self.failure = None
