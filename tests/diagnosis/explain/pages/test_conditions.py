"""Which streaming conditions of the installed pyspark's own error list have no page."""

from __future__ import annotations

import json
import re
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.diagnosis.explain.pages.catalogue import PAGES

NAMED = re.compile(
    r"STREAM|STATE_|STATEFUL|STDS_|WATERMARK|EVENT_TIME|CHECKPOINT|FOREACH|OUTPUT_MODE|MICRO_?BATCH|"
    r"LOG_VERSION|LOG_FILE|BATCH_METADATA|WITH_?STATE|REAL_TIME_MODE|CONCURRENT_QUERY|CONTINUOUS"
)
TOLD = re.compile(
    r"[Ss]treaming|[Ss]tate store|StateStore|micro-?batch|watermark|_spark_metadata|"
    r"checkpointLocation|checkpoint location|GroupsWithState|continuous (?:trigger|execution)"
)
"""What makes a condition one of streaming: its name, or the words of its message."""

PIPELINES = "declarative pipelines: about a pipeline's definition, not about a checkpoint"
ENCODER = "inside of the state store's encoders: no query of a user reaches it but through a bug"

WITHOUT_PAGE = {
    "APPEND_ONCE_FROM_BATCH_QUERY": PIPELINES,
    "AUTOCDC_MICROBATCH_VALIDATION": "AutoCDC of pipelines: about the rows of a change feed",
    "AUTOCDC_MISSING_SOURCE": PIPELINES,
    "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND": "checkpoints of RDDs, another thing of the same name",
    "INVALID_RESETTABLE_DEPENDENCY": PIPELINES,
    "STATE_STORE_CANNOT_CREATE_COLUMN_FAMILY_WITH_RESERVED_CHARS": ENCODER,
    "STATE_STORE_CANNOT_USE_COLUMN_FAMILY_WITH_INVALID_NAME": ENCODER,
    "STATE_STORE_INCORRECT_NUM_ORDERING_COLS_FOR_RANGE_SCAN": ENCODER,
    "STATE_STORE_INCORRECT_NUM_PREFIX_COLS_FOR_PREFIX_SCAN": ENCODER,
    "STATE_STORE_NULL_TYPE_ORDERING_COLS_NOT_SUPPORTED": ENCODER,
    "STATE_STORE_UNSUPPORTED_OPERATION": "a provider lacks an operation: for authors of providers",
    "STATE_STORE_VARIABLE_SIZE_ORDERING_COLS_NOT_SUPPORTED": ENCODER,
    "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE": PIPELINES,
    "_LEGACY_ERROR_TEMP_2210": "a node of the plan that only a bug of Spark would run",
    "_LEGACY_ERROR_TEMP_3011": "the old DStreams, which have other checkpoints",
    "_LEGACY_ERROR_TEMP_3169": "for authors of sources",
}
"""Streaming conditions that are left out on purpose, each with the reason."""


def conditions() -> dict[str, Any]:
    """Read the error list out of pyspark's jars; no JVM is needed."""
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    jars = Path(found.origin).parent / "jars"
    with zipfile.ZipFile(next(jars.glob("spark-common-utils_*.jar"))) as jar:
        read: dict[str, Any] = json.loads(jar.read("error/error-conditions.json"))
    return read


def of_streaming(known: dict[str, Any]) -> dict[str, Any]:
    """Keep those that are about streams, their state, sources and sinks."""
    return {
        name: one
        for name, one in known.items()
        if NAMED.search(name) or TOLD.search(" ".join(one["message"]))
    }


def explained() -> tuple[set[str], set[str]]:
    """Give the conditions that have a page, and those whose page stands for each sub-class."""
    every = {condition for page in PAGES for condition in page.conditions}
    whole = {condition for page in PAGES if not page.wraps for condition in page.conditions}
    return every, whole


def missing(known: dict[str, Any]) -> set[str]:
    """Name the conditions, or sub-classes, without a page; a wrapper's page stands for none."""
    every, whole = explained()
    found: set[str] = set()
    for name, one in of_streaming(known).items():
        if name in whole or name in WITHOUT_PAGE:
            continue
        parts = [f"{name}.{part}" for part in one.get("subClass", {})] or [name]
        found |= {part for part in parts if part not in every}
    return found


def test_every_streaming_condition_has_a_page_or_a_reason() -> None:
    """A new pyspark with a new condition fails here: write its page, or say why not."""
    assert missing(conditions()) == set()


def test_a_condition_of_a_new_pyspark_would_be_missed() -> None:
    """So does a sub-class below a wrapper."""
    known = conditions()
    known["STATE_STORE_OF_THE_FUTURE"] = {"message": ["x"]}
    known["CANNOT_LOAD_STATE_STORE"]["subClass"]["OF_THE_FUTURE"] = {"message": ["x"]}
    assert missing(known) == {
        "STATE_STORE_OF_THE_FUTURE",
        "CANNOT_LOAD_STATE_STORE.OF_THE_FUTURE",
    }


def test_what_is_left_out_exists_and_has_no_page() -> None:
    """The list does not outlive what it speaks of."""
    every, _ = explained()
    assert set(WITHOUT_PAGE) <= set(of_streaming(conditions()))
    assert set(WITHOUT_PAGE) & every == set()


def test_pages_name_conditions_that_some_spark_has() -> None:
    """Those of connectors and of other releases are told by their names."""
    known = conditions()
    named = {
        *known,
        *(f"{name}.{part}" for name in known for part in known[name].get("subClass", ())),
    }
    elsewhere = re.compile(r"DELTA_|DIFFERENT_DELTA|KAFKA_|.*OFFSET|.*TOPIC_PARTITIONS")
    later = {
        "INVALID_STREAMING_SOURCE_NAME",
        "STREAMING_QUERY_EVOLUTION_ERROR.CANNOT_ENABLE_ON_EXISTING_CHECKPOINT",
    }
    every, _ = explained()
    assert {one for one in every - named if not elsewhere.match(one)} == later
