"""Declared jobs against checkpoints: what fits is quiet, also where it is spelled another way."""

from __future__ import annotations

import pytest

from holdfast.diagnosis.inspection.subject import DeclaredJob
from holdfast.findings import Severity
from tests.checkpoint.pictures import files_of, replaced
from tests.diagnosis.doctor.examining import Files, examinee, found
from tests.diagnosis.doctor.scenarios import declared, reading, two_sources


def codes_of(files: Files, job: DeclaredJob) -> dict[str, Severity]:
    """Give what is said of a job over a checkpoint."""
    return {code: one.severity for code, one in found(examinee(files, job=job)).items()}


def kafka() -> Files:
    """Give a checkpoint of a topic called `orders`, with two partitions."""
    files = files_of("kafka", "4.2.0")
    newest = max(path for path in files if path.startswith("offsets/"))
    head = files[newest].split(b"\n")[:2]
    return replaced(files, newest, b"\n".join([*head, b'{"orders":{"0":2,"1":2}}']))


@pytest.mark.parametrize(
    "options",
    [
        {"subscribe": "orders"},
        {"SUBSCRIBE": " orders "},
        {"subscribePattern": "ord.*"},
        {"assign": '{"orders":[0,1]}'},
        {"subscribe": "${env:TOPIC}"},
        {"subscribePattern": "(?[a"},
        {"assign": "[]"},
    ],
)
def test_topics_that_fit_or_are_not_understood_are_no_finding(options: dict[str, str]) -> None:
    """A pattern may be Java's own, and a reference is filled in at the start."""
    assert "HF2325" not in codes_of(kafka(), reading(**options))


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        ({"subscribe": "other"}, Severity.FATAL),
        ({"subscribe": "orders,other"}, Severity.WARNING),
        ({"subscribePattern": "orders-.*"}, Severity.FATAL),
        ({"subscribePattern": "order"}, Severity.FATAL),
        ({"assign": '{"orders":[0]}'}, Severity.FATAL),
        ({"assign": '{"orders":[0,1],"other":[0]}'}, Severity.WARNING),
    ],
)
def test_topics_that_do_not_fit(options: dict[str, str], severity: Severity) -> None:
    """Fatal where something recorded is not read any more."""
    assert codes_of(kafka(), reading(**options))["HF2325"] is severity


def test_every_use_of_a_source_counts() -> None:
    """As many as the checkpoint has, whatever is declared."""
    thrice = declared(sql="select * from source union all select * from source")
    assert "HF2323" not in codes_of(files_of("self-union"), thrice)
    assert codes_of(files_of("self-union"), declared())["HF2323"] is Severity.FATAL


def test_a_source_that_the_query_leaves_out_does_not_count() -> None:
    """Spark never sees it."""
    assert "HF2323" not in codes_of(files_of("stateless"), two_sources("select * from a"))


def test_a_function_may_use_a_source_more_than_once() -> None:
    """How often is not known: fewer sources than recorded are no finding, more of them are."""
    function = {"sql": None, "transform": "pipeline:merged"}
    assert "HF2323" not in codes_of(files_of("self-union"), declared(**function))
    both = {"a": {"format": "json", "path": "a"}, "b": {"format": "json", "path": "b"}}
    more = declared(source=None, sources=both, **function)
    assert codes_of(files_of("stateless"), more)["HF2323"] is Severity.FATAL


def test_sources_found_by_name_are_not_counted() -> None:
    """A log of version 2 keeps them by id, so that a query may gain or lose one."""
    twice = declared(sql="select * from source union all select * from source")
    assert "HF2323" not in codes_of(files_of("offsets-v2"), twice)


def test_a_provider_that_is_set_or_is_the_default_is_no_finding() -> None:
    """Nor one of a query without state."""
    key = "spark.sql.streaming.stateStore.providerClass"
    rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    assert "HF2349" not in codes_of(
        files_of("aggregation-rocksdb"), declared(settings={key: rocks})
    )
    assert "HF2349" not in codes_of(files_of("aggregation-hdfs-lz4"), declared())
