"""`run` on real Spark and real Delta tables: order, failures, records, guards, adoption."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.errors import SourceError, SparkStartError
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.leases.taking import take_lease
from holdfast.records.processes import this_holder
from holdfast.records.run import Ended, Run
from holdfast.running.report import BatchDone, Event, JobEnded, JobStarted, JobWaiting
from holdfast.running.stopping import Stopping
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.spark.running.projects import Made, expected, ingest, table

pytestmark = pytest.mark.spark


def ended(answer: Any) -> dict[str, str]:
    """Give how each job ended."""
    return {job.job: job.ended.value for job in answer.result.jobs}


def codes(answer: Any) -> list[str]:
    """Give the codes of the findings."""
    return [finding.code for finding in answer.findings]


def runs(made: Made, job: str) -> tuple[Run, ...]:
    """Give the records of a job."""
    location = parse_location(str(made.checkpoint(job)))
    return History(records_of(location, StorageSettings())).runs()


def test_jobs_run_in_the_order_of_their_lineage(spark: Any, tmp_path: Path) -> None:
    """Whatever the order of their declaration; a second run has nothing to do."""
    made = Made(
        tmp_path,
        {
            "sums": {
                "source": {"format": "delta", "path": "./lake/raw"},
                "transform": "pipeline:counted",
                "sink": {"format": "delta", "path": "./lake/sums", "mode": "upsert", "key": ["k"]},
            },
            "ingest": ingest(),
        },
    )
    numbers = made.arrive(5) + made.arrive(4)
    seen: list[Event] = []
    answer = holdfast.run(project=made.file, raise_on_failure=False, watch=seen.append)
    assert answer.exit_status == 0
    assert [job.job for job in answer.result.jobs] == ["ingest", "sums"]
    assert ended(answer) == {"ingest": "finished", "sums": "finished"}
    report = answer.result.jobs[0]
    assert (report.batches, report.rows, report.first_batch, report.last_batch) == (2, 9, 0, 1)
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)
    assert sum(row[2] for row in table(spark, tmp_path / "lake/sums")) == sum(numbers)
    assert [type(one) for one in seen if getattr(one, "job", None) == "ingest"][1:] == [
        JobStarted, BatchDone, BatchDone, JobEnded,
    ]  # fmt: skip

    numbers += made.arrive(3)
    again = holdfast.run(project=made.file)
    assert again.result.jobs[0].first_batch == 2
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)
    idle = holdfast.run(project=made.file)
    assert [job.batches for job in idle.result.jobs] == [0, 0]


def test_a_run_leaves_its_record(spark: Any, tmp_path: Path) -> None:
    """With everything that evidence needs later."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(3)
    report = holdfast.run(project=made.file).result.jobs[0]
    made.arrive(2)
    holdfast.run(project=made.file)
    newest, oldest = runs(made, "ingest")
    assert (oldest.generation, newest.generation) == (1, 2)
    assert oldest.query_id == newest.query_id == report.query_id
    assert oldest.run_id == report.run_id != newest.run_id
    assert (newest.ended, newest.batches, newest.rows) == (Ended.FINISHED, 1, 2)
    assert newest.versions.spark == spark.version and newest.versions.java
    assert newest.sink is not None and newest.sink.kind == "delta"
    assert newest.plan.sources == ("file",) and newest.plan.operators == ()
    assert "Relation" in newest.plan.text and list(newest.plan.code) == ["pipeline.py"]
    assert json.loads(newest.sources[0].start_offset or "") == {"logOffset": 0}
    assert json.loads(newest.sources[0].end_offset or "") == {"logOffset": 1}
    kept = tmp_path / "checkpoints/.holdfast/ingest/offsets"
    assert any(path.read_bytes() == (made.checkpoint("ingest") / "offsets/1").read_bytes()
               for path in kept.rglob("*") if path.is_file())  # fmt: skip


def test_one_failing_job_takes_down_only_those_below_it(spark: Any, tmp_path: Path) -> None:
    """The others run; the first failure in lineage order is raised, with what all of them did."""
    made = Made(
        tmp_path,
        {
            "bad": ingest("./lake/bad", transform="pipeline:broken"),
            "below": {
                "source": {"format": "delta", "path": "./lake/bad"},
                "transform": "pipeline:same",
                "sink": {"format": "delta", "path": "./lake/below"},
            },
            "good": ingest("./lake/good"),
        },
    )
    numbers = made.arrive(2)
    with pytest.raises(SourceError) as raised:
        holdfast.run(project=made.file)
    assert str(raised.value).startswith(f"{raised.value.code.number}: bad: ")
    answer = raised.value.answer
    assert answer is not None and raised.value.exit_status == answer.exit_status
    assert ended(answer) == {"bad": "failed", "below": "skipped", "good": "finished"}
    assert answer.status == "findings" and answer.exit_status == 51
    (finding,) = (one for one in answer.findings if one.evidence.get("job") == "bad")
    assert "pipeline.py" in finding.place.within("") and "nowhere" in finding.message
    assert table(spark, tmp_path / "lake/good") == expected(numbers)
    assert not (tmp_path / "lake/below").exists()


def test_a_job_that_fails_in_a_batch_is_told_in_spark_s_words(spark: Any, tmp_path: Path) -> None:
    """By the error class and our page, not by Java; the batch stays pending."""
    made = Made(tmp_path, {"ingest": ingest(transform="pipeline:divided")})
    made.arrive(5)
    seen: list[Event] = []
    answer = holdfast.run(project=made.file, raise_on_failure=False, watch=seen.append)
    assert answer.exit_status == 53
    failure = answer.result.jobs[0].failure
    assert failure is not None and failure.error_class == "DIVIDE_BY_ZERO"
    assert "\n\tat " not in answer.findings[-1].message
    assert isinstance(seen[-1], JobEnded) and "DIVIDE_BY_ZERO" in (seen[-1].trace or "")
    assert (made.ids("ingest", "offsets"), made.ids("ingest", "commits")) == ([0], [])
    assert runs(made, "ingest")[0].ended is Ended.FAILED


def test_an_open_session_is_used_with_what_is_named(spark: Any, tmp_path: Path) -> None:
    """HF5212 says what to name; the run then records the values that counted."""
    made = Made(tmp_path, {"ingest": ingest()})
    numbers = made.arrive(2)
    document = yaml.safe_load(made.file.read_text())
    conf = {"spark.executor.memory": "3g", "spark.sql.session.timeZone": "Asia/Tokyo"}
    document["spark"]["conf"] = {**document["spark"].get("conf", {}), **conf}
    made.file.write_text(yaml.safe_dump(document))
    with pytest.raises(SparkStartError) as raised:
        holdfast.run(project=made.file)
    assert raised.value.code.number == "HF5212"
    assert 'keep_settings=["spark.executor.memory"]' in raised.value.next_steps[0]
    assert not made.checkpoint("ingest").exists()
    zone = spark.conf.get("spark.sql.session.timeZone")
    answer = holdfast.run(project=made.file, keep_settings=["spark.executor.memory"])
    assert (answer.exit_status, codes(answer)) == (0, ["HF5218"])
    settings = runs(made, "ingest")[0].settings
    assert "spark.executor.memory" not in settings
    assert settings["spark.sql.session.timeZone"] == "Asia/Tokyo"
    assert spark.conf.get("spark.sql.session.timeZone") == zone
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)


def test_a_held_lease_is_refused_with_who_holds_it(spark: Any, tmp_path: Path) -> None:
    """Status 22, and the other jobs run."""
    made = Made(tmp_path, {"ingest": ingest(), "other": ingest("./lake/other")})
    made.arrive(2)
    records = records_of(parse_location(str(made.checkpoint("ingest"))), StorageSettings())
    lease = take_lease(records, job="ingest", holder=this_holder(None))
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert ended(answer) == {"ingest": "refused", "other": "finished"}
    assert answer.exit_status == 22
    assert "HF2601" in codes(answer)
    lease.release()
    assert ended(holdfast.run("ingest", project=made.file)) == {"ingest": "finished"}


def test_a_lost_checkpoint_does_not_fill_the_table_twice(spark: Any, tmp_path: Path) -> None:
    """HF3025: that several jobs write the table is no reason to fill it from the same job twice."""
    made = Made(tmp_path, {"ingest": ingest()})
    numbers = made.arrive(3)
    holdfast.run(project=made.file)
    shutil.rmtree(made.checkpoint("ingest"))
    for accept in ((), ("shared-sink",)):
        refused = holdfast.run(project=made.file, raise_on_failure=False, accept=accept)
        assert (ended(refused), refused.exit_status) == ({"ingest": "refused"}, 30)
        assert codes(refused) == ["HF3025"]
        assert not any("shared-sink" in step for step in refused.findings[0].next_steps)
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)
    assert not (made.checkpoint("ingest") / "offsets").exists()


def test_a_table_of_another_job_is_shared_on_purpose_alone(spark: Any, tmp_path: Path) -> None:
    """HF3007, unless several writers are meant; later starts know it."""
    made = Made(tmp_path, {"ingest": ingest()})
    numbers = made.arrive(3)
    holdfast.run(project=made.file)
    shutil.rmtree(made.checkpoint("ingest"))
    shutil.rmtree(made.checkpoint("ingest").parent / ".holdfast")
    refused = holdfast.run(project=made.file, raise_on_failure=False)
    assert codes(refused) == ["HF3007"]
    accepted = holdfast.run(project=made.file, accept=["shared-sink"])
    assert (ended(accepted), accepted.exit_status) == ({"ingest": "finished"}, 0)
    assert table(spark, tmp_path / "lake/raw") == expected(numbers * 2)
    history = History(records_of(parse_location(str(made.checkpoint("ingest"))), StorageSettings()))
    numbers += made.arrive(1)
    holdfast.run(project=made.file)
    assert [run.accepted for run in history.runs(newest=2)] == [("shared-sink",)] * 2


def test_a_checkpoint_put_back_to_an_older_state_is_refused(spark: Any, tmp_path: Path) -> None:
    """The table would skip the batches that Spark plans anew, and their rows would be lost."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(3)
    holdfast.run(project=made.file)
    shutil.copytree(made.checkpoint("ingest"), tmp_path / "older")
    made.arrive(2)
    holdfast.run(project=made.file)
    shutil.rmtree(made.checkpoint("ingest"))
    shutil.copytree(tmp_path / "older", made.checkpoint("ingest"))
    answer = holdfast.run(
        project=made.file, raise_on_failure=False, accept=["sink-behind", "shared-sink"]
    )
    assert (ended(answer), codes(answer)) == ({"ingest": "refused"}, ["HF3005"])


def test_a_table_put_back_to_an_older_state_is_refused(spark: Any, tmp_path: Path) -> None:
    """Its rows would be missing for good."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(3)
    holdfast.run(project=made.file)
    shutil.copytree(tmp_path / "lake/raw", tmp_path / "older")
    made.arrive(2)
    holdfast.run(project=made.file)
    shutil.rmtree(tmp_path / "lake/raw")
    shutil.copytree(tmp_path / "older", tmp_path / "lake/raw")
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert (ended(answer), codes(answer)) == ({"ingest": "refused"}, ["HF3006"])


def test_changed_sources_and_operators_are_refused(spark: Any, tmp_path: Path) -> None:
    """Before Spark starts the query: the checkpoint stays as it is."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(3)
    holdfast.run(project=made.file)
    before = sorted(str(path) for path in made.checkpoint("ingest").rglob("*"))
    rate = {"format": "rate-micro-batch", "options": {"rowsPerBatch": 5}}
    kind = Made(
        tmp_path,
        {
            "ingest": ingest(
                source=rate, transform=None, sql="select value as n, 'k' as k from source"
            )
        },
    )
    assert codes(holdfast.run(project=kind.file, raise_on_failure=False)) == ["HF3003"]
    second = {"format": "json", "path": "./in2", "schema": "n long, k string"}
    (tmp_path / "in2").mkdir()
    job = ingest(sources={"left": ingest()["source"], "right": second}, transform="pipeline:joined")
    job.pop("source")
    more = Made(tmp_path, {"ingest": job})
    assert codes(holdfast.run(project=more.file, raise_on_failure=False)) == ["HF3002"]
    stateful = ingest(transform=None, sql="select max(n) as n, k from source group by k") | {
        "sink": {"format": "delta", "path": "./lake/raw", "mode": "upsert", "key": ["k"]}
    }
    assert codes(
        holdfast.run(project=Made(tmp_path, {"ingest": stateful}).file, raise_on_failure=False)
    ) == ["HF3004"]
    assert sorted(str(path) for path in made.checkpoint("ingest").rglob("*")) == before


def test_a_pinned_setting_is_told_and_the_job_runs(spark: Any, tmp_path: Path) -> None:
    """Spark goes on with the number of partitions of the checkpoint."""
    sums = {
        "source": ingest()["source"],
        "transform": "pipeline:counted",
        "sink": {"format": "delta", "path": "./lake/sums", "mode": "upsert", "key": ["k"]},
    }
    made = Made(tmp_path, {"sums": sums})
    made.arrive(3)
    holdfast.run(project=made.file)
    made = Made(tmp_path, {"sums": {**sums, "conf": {"spark.sql.shuffle.partitions": 7}}})
    made.arrive(3)
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert (ended(answer), codes(answer)) == ({"sums": "finished"}, ["HF3008"])
    assert answer.exit_status == 0


def test_settings_of_one_job_touch_no_other(spark: Any, tmp_path: Path) -> None:
    """And what Spark can't change at run time is refused with the line."""
    made = Made(
        tmp_path,
        {
            "plain": ingest("./lake/plain"),
            "own": ingest("./lake/own", conf={"spark.sql.session.timeZone": "Asia/Tokyo"}),
            "wrong": ingest("./lake/wrong", conf={"spark.sql.ui.retainedExecutions": 5}),
        },
    )
    made.arrive(2)
    zone = spark.conf.get("spark.sql.session.timeZone")
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert ended(answer) == {"plain": "finished", "own": "finished", "wrong": "refused"}
    assert answer.exit_status == 10
    assert spark.conf.get("spark.sql.session.timeZone") == zone


def test_a_query_that_spark_does_not_take_is_recorded_as_failed(spark: Any, tmp_path: Path) -> None:
    """Appending an aggregate without a watermark: Spark's own class, and no lease left behind."""
    made = Made(tmp_path, {"sums": ingest("./lake/sums", transform="pipeline:counted")})
    made.arrive(3)
    for generation in (1, 2):
        answer = holdfast.run(project=made.file, raise_on_failure=False)
        assert ended(answer) == {"sums": "failed"}
        newest = runs(made, "sums")[0]
        assert (newest.generation, newest.ended) == (generation, Ended.FAILED)
        assert newest.failure is not None and newest.ended_at is not None


def test_a_holder_on_another_machine_is_watched_and_the_wait_can_be_stopped(
    spark: Any, tmp_path: Path
) -> None:
    """Nobody is judged by the clock of another machine; nothing is started meanwhile."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(2)
    records = records_of(parse_location(str(made.checkpoint("ingest"))), StorageSettings())
    elsewhere = replace(this_holder(None), machine="another", host="host-7")
    take_lease(records, job="ingest", holder=elsewhere)
    stopping, seen = Stopping(), []

    def watch(event: Event) -> None:
        seen.append(event)
        if isinstance(event, JobWaiting):
            stopping.ask()

    answer = holdfast.run(project=made.file, raise_on_failure=False, stopping=stopping, watch=watch)
    assert ended(answer) == {"ingest": "stopped"}
    assert [one.holder for one in seen if isinstance(one, JobWaiting) and "host-7" in one.holder]
    assert not made.checkpoint("ingest").exists()
