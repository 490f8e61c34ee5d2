"""A checkpoint of plain PySpark is adopted: its pending batch is neither lost nor doubled."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import holdfast
from holdfast.ledgers.identity import OffsetRange
from holdfast.records.folder import records_of
from holdfast.records.statements import Statement, Statements
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.cli.running import holdfast as command
from tests.drawing import draw
from tests.spark.running.projects import ROWS, Made, expected, ingest, table

pytestmark = pytest.mark.spark

DELIVER = """

import pathlib


def deliver(batch, identity):
    here = pathlib.Path(__file__).parent
    if (here / "broken").exists():
        raise OSError("on purpose to fail")
    with (here / "delivered").open("a") as file:
        file.writelines(f"{row.n}\\n" for row in batch.collect())
"""


class PlainProgram:
    """A PySpark program that knows nothing of Holdfast, and the project that adopts it."""

    def __init__(self, spark: Any, folder: Path, sink: dict[str, Any], **job: Any) -> None:
        declared = ingest(checkpoint="./old/orders", **job) | {"sink": sink}
        self.made = Made(folder, {"orders": declared})
        pipeline = folder / "pipeline.py"
        pipeline.write_text(pipeline.read_text(encoding="utf-8") + DELIVER, encoding="utf-8")
        self.folder, self._spark = folder, spark
        self.checkpoint = folder / "old/orders"

    def arrive(self, count: int) -> list[int]:
        """Let a file arrive that Spark takes for newer than those before it, and give its rows."""
        numbers = self.made.arrive(count)
        moment = time.time() - 1000 + numbers[0]
        os.utime(self.folder / f"in/{numbers[0]:06d}.json", (moment, moment))
        return numbers

    def run(self, begin: Callable[[Any], Any]) -> None:
        """Run all that is available, and leave a batch pending where the program fails."""
        frame = (
            self._spark.readStream.schema(ROWS)
            .option("maxFilesPerTrigger", 1)
            .json(str(self.folder / "in"))
        )
        query = begin(frame).start()
        try:
            query.processAllAvailable()
        except StreamingQueryException as error:
            assert "on purpose to fail" in str(error)
        finally:
            query.stop()

    def write_natively(self, frame: Any) -> Any:
        """Write through Spark's own Delta sink."""
        return self._with_checkpoint(frame).format("delta").option("path", self.lake)

    def fail_natively(self, frame: Any) -> Any:
        """Do the same, and fail before the table has the batch."""
        failing = "if(n = 3, raise_error('on purpose to fail'), k) as k"
        return self.write_natively(frame.selectExpr("n", failing))

    def call(self, deliver: Callable[[Any, int], None]) -> Callable[[Any], Any]:
        """Call a function for each batch."""
        return lambda frame: self._with_checkpoint(frame).foreachBatch(deliver)

    def fail_in(self, batch_id: int) -> Callable[[Any], Any]:
        """Deliver as the project's function does, and fail right after this batch."""

        def deliver(batch: Any, number: int) -> None:
            with (self.folder / "delivered").open("a") as file:
                file.writelines(f"{row.n}\n" for row in batch.collect())
            if number == batch_id:
                raise OSError("on purpose to fail")

        return self.call(deliver)

    def run_held(self, **said: Any) -> Any:
        """Run the project that adopts the program."""
        return holdfast.run(project=self.made.file, raise_on_failure=False, **said)

    def uncommit(self, batch_id: int) -> None:
        """Leave what a kill between the sink's commit and Spark's leaves."""
        for name in (str(batch_id), f".{batch_id}.crc"):
            (self.checkpoint / "commits" / name).unlink()

    @property
    def lake(self) -> str:
        """Give where the table is."""
        return str(self.folder / "lake/raw")

    def delivered(self) -> list[int]:
        """Give what the function was handed."""
        lines = (self.folder / "delivered").read_text().split()
        return sorted(map(int, lines))

    def ids(self, log: str) -> list[int]:
        """Give the batches in `offsets` or `commits`."""
        return sorted(int(one.name) for one in (self.checkpoint / log).glob("[0-9]*"))

    def _with_checkpoint(self, frame: Any) -> Any:
        return frame.writeStream.option("checkpointLocation", str(self.checkpoint))


DELTA = {"format": "delta", "path": "./lake/raw"}
CUSTOM = {"format": "custom", "function": "pipeline:deliver"}


def codes(answer: Any) -> list[str]:
    """Give the codes of the findings."""
    return [finding.code for finding in answer.findings]


def statements(program: PlainProgram) -> list[dict[str, Any]]:
    """Give the statements that are kept."""
    folder = program.folder / "old/.holdfast/orders/statements"
    return [json.loads(one.read_text()) for one in folder.rglob("*.json")]


@draw("held")
@pytest.mark.parametrize("held", [True, False])
def test_a_native_delta_table_is_asked_about_the_pending_batch(
    spark: Any, tmp_path: Path, held: bool
) -> None:
    """Nobody has to state anything; nothing is doubled, nothing is lost."""
    program = PlainProgram(spark, tmp_path, DELTA)
    numbers = program.arrive(3) + program.arrive(2)
    if held:
        program.run(program.write_natively)
        program.uncommit(1)
    else:
        program.run(program.fail_natively)
    assert (program.ids("offsets"), program.ids("commits")) == ([0, 1], [0])
    assert table(spark, tmp_path / "lake/raw") == expected(numbers if held else numbers[:3])
    numbers += program.arrive(2)
    answer = program.run_held()
    (job,) = answer.result.jobs
    assert (answer.exit_status, job.ended.value, job.first_batch) == (0, "finished", 1)
    assert (job.batches, job.skipped_batches) == (2, int(held))
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)
    assert statements(program) == []


def test_what_the_table_knows_is_not_overruled_by_a_statement(spark: Any, tmp_path: Path) -> None:
    """HF3010: it does not hold the batch, so that the rows would be lost."""
    program = PlainProgram(spark, tmp_path, DELTA)
    numbers = program.arrive(3) + program.arrive(2)
    program.run(program.fail_natively)
    refused = program.run_held(pending_delivered=True)
    assert (codes(refused), refused.exit_status) == (["HF3010"], 40)
    assert statements(program) == []
    assert program.run_held(pending_delivered=False).exit_status == 0
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)


def test_a_table_that_was_filled_without_identity_can_t_tell(spark: Any, tmp_path: Path) -> None:
    """HF3009: foreachBatch with a plain append leaves no trace of the batch."""
    program = PlainProgram(spark, tmp_path, DELTA)
    numbers = program.arrive(3)

    def append(batch: Any, _: int) -> None:
        batch.write.format("delta").mode("append").save(program.lake)
        raise OSError("on purpose to fail")

    program.run(program.call(append))
    assert codes(program.run_held()) == ["HF3009"]
    assert program.run_held(pending_delivered=True).exit_status == 0
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)


def test_an_adopted_table_is_missed_only_once_it_was_delivered_to(
    spark: Any, tmp_path: Path
) -> None:
    """A table that never knew the query starts; what was stated is not what we delivered."""
    program = PlainProgram(spark, tmp_path, DELTA)
    program.arrive(3)

    def append(batch: Any, number: int) -> None:
        batch.write.format("delta").mode("append").save(program.lake)
        if number == 1:
            raise OSError("on purpose to fail")

    program.run(program.call(append))
    assert (program.run_held().exit_status, program.ids("commits")) == (0, [0])
    program.arrive(2)
    program.run(program.call(append))
    assert program.run_held(pending_delivered=True).exit_status == 0
    assert program.ids("commits") == [0, 1]
    assert (program.run_held().exit_status, codes(program.run_held())) == (0, [])
    numbers = program.arrive(2)
    assert program.run_held().exit_status == 0
    shutil.rmtree(tmp_path / "lake/raw")
    refused = program.run_held()
    assert (codes(refused), refused.exit_status) == (["HF3013"], 30)
    assert numbers and not (tmp_path / "lake/raw").exists()


def test_any_other_sink_has_to_be_spoken_for(spark: Any, tmp_path: Path) -> None:
    """HF3009 until it is; delivered, the batch is not handed over, and those after it are."""
    program = PlainProgram(spark, tmp_path, CUSTOM)
    numbers = program.arrive(2) + program.arrive(2)
    program.run(program.fail_in(1))
    assert (program.ids("offsets"), program.ids("commits")) == ([0, 1], [0])
    refused = program.run_held()
    assert (codes(refused), refused.exit_status) == (["HF3009"], 31)
    assert "holdfast.run(…, pending_delivered=True), or" in refused.findings[0].next_steps[0]
    assert program.delivered() == numbers and program.ids("commits") == [0]
    numbers += program.arrive(2)
    stated = program.run_held(pending_delivered=True)
    (job,) = stated.result.jobs
    assert (stated.exit_status, job.first_batch, job.last_batch) == (0, 1, 2)
    assert (job.batches, job.skipped_batches) == (2, 1)
    assert program.delivered() == numbers
    (kept,) = statements(program)
    assert (kept["batch_id"], kept["delivered"], kept["query_id"]) == (1, True, job.query_id)
    nothing_pending = program.run_held(pending_delivered=True)
    assert (codes(nothing_pending), nothing_pending.exit_status) == (["HF3010"], 40)


def test_stated_as_not_delivered_the_batch_is_handed_over(spark: Any, tmp_path: Path) -> None:
    """Here the program failed before it wrote anything."""
    program = PlainProgram(spark, tmp_path, CUSTOM)
    numbers = program.arrive(2)

    def fail(_: Any, __: int) -> None:
        raise OSError("on purpose to fail")

    program.run(program.call(fail))
    numbers += program.arrive(2)
    answer = program.run_held(pending_delivered=False)
    assert (answer.exit_status, answer.result.jobs[0].skipped_batches) == (0, 0)
    assert program.delivered() == numbers


def test_a_statement_counts_until_its_batch_is_committed(spark: Any, tmp_path: Path) -> None:
    """The next start goes by it without being told again, and nobody can say the opposite."""
    failing = PlainProgram(spark, tmp_path, CUSTOM, transform="pipeline:divided")
    numbers = failing.arrive(2) + failing.arrive(3)
    failing.run(failing.fail_in(1))
    failed = failing.run_held(pending_delivered=True)
    assert failed.result.jobs[0].ended.value == "failed" and failing.ids("commits") == [0]
    opposite = failing.run_held(pending_delivered=False)
    assert codes(opposite) == ["HF2605"] and opposite.exit_status != 0
    mended = PlainProgram(spark, tmp_path, CUSTOM)
    answer = mended.run_held()
    assert (answer.exit_status, answer.result.jobs[0].skipped_batches) == (0, 1)
    assert mended.delivered() == numbers


def test_a_statement_made_with_an_older_release_counts(spark: Any, tmp_path: Path) -> None:
    """It names the digest of the entry alone; a new one names the range."""
    program = PlainProgram(spark, tmp_path, CUSTOM)
    numbers = program.arrive(2) + program.arrive(2)
    program.run(program.fail_in(1))
    query_id = json.loads((program.checkpoint / "metadata").read_text())["id"]
    entries = [(program.checkpoint / f"offsets/{one}").read_bytes() for one in (0, 1)]
    digest, older = OffsetRange(1, *entries).digests
    folder = records_of(parse_location(str(program.checkpoint)), StorageSettings())
    said = Statement(query_id, 1, older, True, "2026-03-01T10:00:00.000Z", "zoë")
    Statements(folder).write(said)
    assert codes(program.run_held(pending_delivered=False)) == ["HF2605"]
    answer = program.run_held()
    assert (answer.exit_status, answer.result.jobs[0].skipped_batches) == (0, 1)
    assert program.delivered() == numbers
    shutil.rmtree(program.checkpoint.parent / ".holdfast/orders")
    program.uncommit(1)
    assert codes(program.run_held()) == ["HF3009"]
    assert program.run_held(pending_delivered=True).exit_status == 0
    assert [one["offsets_digest"] for one in statements(program)] == [digest]
    assert program.delivered() == numbers


def test_a_pending_batch_of_our_own_needs_no_statement(spark: Any, tmp_path: Path) -> None:
    """But one does that the program left after it took its checkpoint back."""
    program = PlainProgram(spark, tmp_path, CUSTOM)
    numbers = program.arrive(2)
    program.run(program.fail_in(-1))
    numbers += program.arrive(2)
    (tmp_path / "broken").touch()
    assert program.run_held().result.jobs[0].ended.value == "failed"
    (tmp_path / "broken").unlink()
    assert (program.ids("offsets"), program.ids("commits")) == ([0, 1], [0])
    assert program.run_held().exit_status == 0
    assert program.delivered() == numbers

    numbers += program.arrive(2)
    program.run(program.fail_in(2))
    refused = program.run_held()
    assert (codes(refused), refused.exit_status) == (["HF3009"], 31)
    assert program.run_held(pending_delivered=True).exit_status == 0
    assert program.delivered() == numbers


def test_a_job_leaves_for_the_native_sink_and_returns(spark: Any, tmp_path: Path) -> None:
    """The table's identity is the same for both: every row is there once."""
    program = PlainProgram(spark, tmp_path, DELTA)
    numbers = program.arrive(2)
    program.run(program.write_natively)
    numbers += program.arrive(2)
    assert program.run_held().result.jobs[0].first_batch == 1
    program.uncommit(1)
    numbers += program.arrive(2)
    program.run(program.write_natively)
    program.uncommit(2)
    numbers += program.arrive(2)
    returned = program.run_held()
    assert (returned.exit_status, returned.result.jobs[0].first_batch) == (0, 2)
    assert returned.result.jobs[0].skipped_batches == 1
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)


def test_a_folder_that_is_no_checkpoint_is_left_alone(spark: Any, tmp_path: Path) -> None:
    """Status 21, and nothing is written into it; nor where there is nothing at all."""
    program = PlainProgram(spark, tmp_path, DELTA)
    program.arrive(1)
    missing = program.run_held()
    assert (codes(missing), missing.exit_status) == (["HF2001"], 21)
    assert not program.checkpoint.exists()
    program.checkpoint.mkdir(parents=True)
    (program.checkpoint / "letters.txt").write_text("dear all")
    answer = program.run_held()
    assert (codes(answer), answer.exit_status) == (["HF2001"], 21)
    assert [one.name for one in program.checkpoint.iterdir()] == ["letters.txt"]


def test_a_checkpoint_of_another_job_is_refused(spark: Any, tmp_path: Path) -> None:
    """HF1118: its records name the owner. `check` says so before, and no plan takes it away."""
    owner = Made(tmp_path / "owner", {"ingest": ingest()})
    owner.arrive(2)
    holdfast.run(project=owner.file)
    place = str(owner.checkpoint("ingest"))
    thief = Made(tmp_path / "thief", {"orders": ingest(checkpoint=place)})
    thief.arrive(2)
    answer = holdfast.run(project=thief.file, raise_on_failure=False)
    assert codes(answer) == ["HF1118"] and answer.exit_status == 10
    assert "ingest" in answer.findings[0].message
    judged = holdfast.check(project=thief.file)
    assert judged.exit_status == 30 and "HF1118" in codes(judged)
    refused = command("plan", "reset", "orders", "--output", "clear", "--project", str(thief.file))
    assert refused.status == 10 and "HF1118" in refused.err
    assert "plan reset" not in str(holdfast.doctor(project=thief.file).to_dict())
    assert owner.ids("ingest", "offsets") == [0]


def test_a_project_that_can_t_remember_the_place_says_so(spark: Any, tmp_path: Path) -> None:
    """HF3012 is told, and the job runs."""
    made = Made(tmp_path, {"ingest": ingest()})
    numbers = made.arrive(2)
    (tmp_path / ".holdfast").symlink_to("/proc/holdfast")
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert (codes(answer), answer.exit_status) == (["HF3012"], 0)
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)
