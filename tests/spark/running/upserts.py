"""A job that upserts, whose range is computed again while it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from tests.parts.postgres import rows_in
from tests.spark.running.projects import Made

WRONG = "select n, at, concat('wrong ', value) as value from source"
RIGHT = "select n, at, upper(value) as value from source"
FILES = {
    "format": "json", "path": "./in", "schema": "n long, at long, value string",
    "options": {"maxFilesPerTrigger": 1},
}  # fmt: skip
UPSERT = {"mode": "upsert", "key": ["n"], "order_by": "at"}
Rows = list[tuple[int, int, str]]


class Stream:
    """A job that upserts by `n` what has the greatest `at`, and whose transform was wrong once."""

    def __init__(
        self,
        folder: Path,
        sink: str,
        url: str = "",
        source: dict[str, Any] = FILES,
        sql: str = WRONG,
    ) -> None:
        self.url = url if sink == "postgres" else ""
        place = {"url": url, "table": "written"} if self.url else {"path": "./lake"}
        declared = {"format": sink, **UPSERT, **place}
        self.made = Made(folder, {"job": {"source": source, "sql": sql, "sink": declared}})
        self.folder, self.file = folder, self.made.file

    def correct(self, sql: str = RIGHT) -> None:
        """Declare the right transform."""
        document = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        document["jobs"]["job"]["sql"] = sql
        self.file.write_text(yaml.safe_dump(document), encoding="utf-8")

    def arrive(self, name: str, *rows: tuple[int, int, str]) -> None:
        """Let a file with these rows arrive."""
        folder = self.folder / "in"
        folder.mkdir(exist_ok=True)
        lines = [json.dumps({"n": n, "at": at, "value": value}) for n, at, value in rows]
        arriving = folder / f".{name}"
        arriving.write_text("\n".join(lines), encoding="utf-8")
        arriving.rename(folder / name)

    def run(self) -> Any:
        """Run the job to the end of its data, and demand that nothing is found."""
        answer = holdfast.run(project=self.file)
        assert [one.code for one in answer.findings if one.severity.value != "info"] == []
        return answer.result.jobs[0]

    def plan(self, first: str, last: str, **options: Any) -> Any:
        """Plan a backfill."""
        asked = {"from": first, "to": last, **options}
        return holdfast.plan("job", "backfill", asked, project=self.file).result

    def apply(self, plan: Any) -> str:
        """Apply a plan, and return how it ended."""
        return str(holdfast.apply(plan, project=self.file).result.outcome)

    def healthy(self) -> None:
        """Demand that the doctor finds nothing."""
        found = holdfast.doctor("job", project=self.file).findings
        assert [(one.code, one.message) for one in found if one.severity.value != "info"] == []

    def live_files(self) -> dict[str, bytes]:
        """Return every file of the live checkpoint and of its lease."""
        lease = self.folder / "checkpoints/.holdfast/job/lease"
        found = [*self.made.checkpoint("job").rglob("*"), *lease.rglob("*")]
        return {str(one): one.read_bytes() for one in sorted(found) if one.is_file()}

    def rows(self, spark: Any) -> Rows:
        """Return the rows of the sink."""
        if self.url:
            return sorted(rows_in(self.url, "select n, at, value from written"))
        table = spark.read.format("delta").load(str(self.folder / "lake"))
        return sorted((one.n, one.at, one.value) for one in table.collect())

    def refusal(self, act: Any) -> str:
        """Return the code of what refuses an act."""
        with pytest.raises(holdfast.HoldfastError) as caught:
            act()
        return str(caught.value.code.number)
