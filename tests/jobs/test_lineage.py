"""Who reads from whom, the order that follows, and circles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ProjectError
from holdfast.jobs.jobplaces import JobPlaces, Read, Written
from holdfast.jobs.lineage import Edge, Lineage
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
