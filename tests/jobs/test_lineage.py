"""Who reads from whom, the order that follows, and circles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ProjectError
from holdfast.jobs.endpoints import JobPlaces, Read, Written
from holdfast.jobs.lineage import Edge, Lineage
from holdfast.jobs.ready import DownstreamJob
from holdfast.jobs.readying import ready_job
from holdfast.running.options import with_changed_tables
from tests.jobs.declaring import job_text, load_jobs, ready_jobs


def delta(path: str) -> str:
    return f"{{format: delta, path: {path}}}"


RAW = job_text("raw", "{format: json, path: ./in}", delta("./lake/raw"))
CLEAN = job_text("clean", delta("lake/../lake/raw/"), delta("./lake/clean"))
BAD = job_text("bad", delta("./lake/raw"), delta("./lake/bad"))
GOLD = job_text("gold", delta("./lake/clean"))


def test_the_sensor_pipeline(tmp_path: Path) -> None:
    lineage = Lineage.from_jobs(ready_jobs(tmp_path, GOLD, CLEAN, BAD, RAW))
    assert lineage.order() == ("raw", "clean", "gold", "bad")
    assert lineage.upstream_of("gold") == {"clean", "raw"}
    assert lineage.reads_from("gold") == ("clean",)
    assert lineage.downstream_of("raw") == {"gold", "clean", "bad"}
    assert lineage.downstream_of("gold") == frozenset()
    assert Edge("raw", "clean", "source") in lineage.edges


def test_jobs_without_each_other_keep_their_order(tmp_path: Path) -> None:
    jobs = [job_text(name) for name in ("c", "a", "b")]
    assert Lineage.from_jobs(ready_jobs(tmp_path, *jobs)).order() == ("c", "a", "b")


KAFKA = "kafka.bootstrap.servers: 'h:1'"


@pytest.mark.parametrize(
    ("sink", "source", "reads"),
    [
        (delta("./x"), "{format: parquet, path: ./x}", True),
        (delta("./x"), "{format: parquet, path: ./x/*.parquet}", True),
        (delta("./x"), "{format: parquet, path: ./x/day=1}", True),
        (delta("./x"), "{format: parquet, path: '*'}", True),
        (delta("./x"), "{format: delta, options: {path: x}}", True),
        ("{format: json, path: ./x/day=1}", "{format: json, path: ./x}", True),
        ("{format: json, path: ./x/day=1/y}", "{format: json, path: ./x}", True),
        ("{format: json, path: ./x/y}", "{format: json, path: ./x}", False),
        (
            "{format: json, path: ./x/y}",
            "{format: json, path: ./x, options: {recursiveFileLookup: true}}",
            True,
        ),
        (delta("./x/day=1"), delta("./x"), False),
        (delta("./x"), "{format: json, path: ./xy}", False),
        (
            f"{{format: kafka, options: {{{KAFKA}, topic: t}}}}",
            f"{{format: kafka, options: {{{KAFKA}, subscribe: 't,u'}}}}",
            True,
        ),
        (
            "{format: jdbc, url: 'jdbc:x://h/d', table: t}",
            "{format: own, options: {url: 'jdbc:x://h/d', dbtable: t}}",
            True,
        ),
        ("{format: console}", "{format: rate}", False),
    ],
)
def test_what_counts_as_reading(sink: str, source: str, reads: bool, tmp_path: Path) -> None:
    head = f"project: p\ncheckpoints: {tmp_path}-checkpoints\n"
    reader, writer = job_text("reader", source), job_text("writer", sink=sink)
    jobs = ready_jobs(tmp_path, reader, writer, head=head)
    order = Lineage.from_jobs(jobs).order()
    assert order == (("writer", "reader") if reads else ("reader", "writer"))


def test_a_circle_names_its_jobs(tmp_path: Path) -> None:
    jobs = ready_jobs(
        tmp_path,
        job_text("out", delta("./c")),
        job_text("a", delta("./c"), delta("./a")),
        job_text("b", delta("./a"), delta("./b")),
        job_text("c", delta("./b"), delta("./c")),
    )
    with pytest.raises(ProjectError, match="c → a → b → c") as raised:
        Lineage.from_jobs(jobs).order()
    assert raised.value.code.number == "HF1117"
    assert "out" not in raised.value.message


def test_a_job_is_not_its_own_upstream() -> None:
    """Reading what it writes is a break of another rule (HF1112), and no circle of jobs."""
    place = "file:///x"
    job = JobPlaces(
        "a",
        "file:///c",
        False,
        (Read("source", "delta", ("source",), place),),
        Written("delta", place),
    )
    assert Lineage.from_places([job]).order() == ("a",)


def test_no_secret_is_needed(tmp_path: Path) -> None:
    sink = "{format: delta, path: '${env:HOLDFAST_TEST_NOT_SET}/x'}"
    source = "{format: delta, path: '${env:HOLDFAST_TEST_NOT_SET}/x'}"
    project = load_jobs(tmp_path, job_text("b", source), job_text("a", sink=sink))
    lineage = Lineage.from_places([project.places_of(job) for job in project.jobs])
    assert lineage.order() == ("a", "b")


UPSERT = "{format: delta, path: ./t, mode: upsert, key: [k]}"
COMPLETE = "{format: delta, path: ./x/../t, mode: complete}"


@pytest.mark.parametrize(
    ("sink", "source", "changed"),
    [
        (UPSERT, "{format: delta, path: ./t}", [("upsert", None)]),
        (COMPLETE, "{format: delta, path: ./t/}", [("complete", None)]),
        (UPSERT, "{format: delta, path: ./t, options: {SkipChangeCommits: true}}",
         [("upsert", "skipChangeCommits")]),
        (UPSERT, "{format: delta, path: ./t, options: {ignoreChanges: TRUE}}",
         [("upsert", "ignoreChanges")]),
        (UPSERT, "{format: delta, path: ./t, options: {skipChangeCommits: false}}",
         [("upsert", None)]),
        (UPSERT, "{format: delta, path: ./t, options: {readChangeFeed: true}}", []),
        (UPSERT, "{format: delta, path: ./other}", []),
        ("{format: delta, path: ./t}", "{format: delta, path: ./t}", []),
        ("{format: parquet, path: ./t, mode: complete}", "{format: parquet, path: ./t}", []),
    ],
)  # fmt: skip
def test_tables_that_are_streamed_and_changed(
    sink: str, source: str, changed: list[tuple[str, str | None]], tmp_path: Path
) -> None:
    """As the project file declares it, and as the jobs are made ready, or declared in Python."""
    jobs = job_text("totals", sink=sink), job_text("reader", source)
    project = load_jobs(tmp_path, *jobs)
    found = project.changed_tables_of("reader")
    assert [(one.mode, one.option) for one in found] == changed
    assert {(one.source, one.upstream) for one in found} <= {("source", "totals")}
    assert project.changed_tables_of("totals") == ()
    ready = [ready_job(project, name) for name in project.jobs]
    assert ready[1].changed_tables == found
    bare = [replace(one, changed_tables=()) for one in ready]
    assert with_changed_tables(bare)[1].changed_tables == found


def test_a_table_from_the_environment_is_streamed_and_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the two jobs spell its place."""
    monkeypatch.setenv("HOLDFAST_TEST_TABLE", str(tmp_path / "t"))
    source = "{format: delta, path: '${env:HOLDFAST_TEST_TABLE}'}"
    project = load_jobs(tmp_path, job_text("totals", sink=UPSERT), job_text("reader", source))
    assert [one.upstream for one in project.changed_tables_of("reader")] == ["totals"]


def test_the_jobs_that_rows_reach_are_named_nearest_first(tmp_path: Path) -> None:
    """With the job in between; the same for a project and for jobs of a program."""
    project = load_jobs(tmp_path, GOLD, CLEAN, BAD, RAW)
    found = project.downstream_of("raw")
    assert found == (
        DownstreamJob("clean", "delta"),
        DownstreamJob("bad", "delta"),
        DownstreamJob("gold", "delta", through="clean"),
    )
    assert project.downstream_of("gold") == ()
    assert ready_job(project, "raw").downstream() == found
    *_, raw = with_changed_tables([ready_job(project, name) for name in project.jobs])
    assert raw.downstream() == found


NAMES = "abcdef"
GRAPHS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=12)


@given(st.permutations(NAMES), GRAPHS)
def test_any_graph_without_a_circle_is_ordered(
    jobs: list[str], pairs: list[tuple[str, str]]
) -> None:
    edges = tuple(Edge(one, other, "source") for one, other in pairs if one < other)
    order = Lineage(tuple(jobs), edges).order()
    assert sorted(order) == sorted(jobs)
    assert all(order.index(edge.upstream) < order.index(edge.downstream) for edge in edges)
