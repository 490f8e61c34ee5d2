"""Shapes of foreign connectors; connectors.py says where each of them was read."""

from __future__ import annotations

import json

import pytest

from holdfast.format.sources import SourceEvidence, amount_between, explain
from holdfast.format.sources.unknown import recognise_connector

AUTO_LOADER = '{"seqNum":234,"sourceVersion":1,"lastBackfillStartTimeMs":1667453455118}'
SHARD = '{"shard":{"stream":"s","shardId":"shardId-0"},"firstSeqNum":"1","lastSeqNum":"2"}'
KINESIS_SQL = (
    '{"metadata":{"batchId":"3","streamName":"s"},'
    '"shardId-0":{"iteratorType":"AFTER_SEQUENCE_NUMBER","iteratorPosition":"49"}}'
)


@pytest.mark.parametrize(
    ("text", "name", "summary"),
    [
        (AUTO_LOADER, "auto loader", "auto loader? file number 234"),
        (
            '{"sourceVersion":1,"seqNum":5,"fetchEpoch":2}',
            "pub/sub",
            "pub/sub? sequence number 5",
        ),
        (f"[{SHARD},{SHARD}]", "kinesis", "kinesis? 2 shards"),
        (KINESIS_SQL, "kinesis-sql", "kinesis-sql? 1 shard"),
        ('{"persistent://public/default/t":[8,-33]}', "pulsar", "pulsar? 1 topic"),
        ('{"offsetCommitTime":"20240101120000"}', "hudi", "hudi? commit 20240101120000"),
        ('{"snapshotId":3,"index":1,"scanSnapshot":true}', "paimon", "paimon? snapshot 3"),
        ('{"_data": "8263"}', "mongodb", "mongodb? a position in a change stream"),
        (
            '{"version": 1, "offset": {"$timestamp": {"t": 1, "i": 2}}}',
            "mongodb",
            "mongodb? a position in a change stream",
        ),
        (
            '{"version": 1, "offset": {"_data": "8263"}}',
            "mongodb",
            "mongodb? a position in a change stream",
        ),
    ],
)
def test_a_known_shape_names_its_connector(text: str, name: str, summary: str) -> None:
    explained = explain(SourceEvidence(text))

    assert (explained.kind, explained.candidates) == ("unknown", (name,))
    assert explained.summary == summary
    assert explained.decoded == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        "{}",
        "[1]",
        "[{}]",
        '{"seqNum":1,"sourceVersion":1}',
        '{"metadata":{}}',
        '{"topic":[1]}',
        '{"persistent://t":["x"]}',
        '{"version":1,"offset":7}',
        '{"snapshotId":3}',
    ],
)
def test_no_connector_is_claimed_for_less(text: str) -> None:
    assert recognise_connector(json.loads(text)) is None


def test_a_connectors_numbers_are_compared_without_a_total() -> None:
    later = AUTO_LOADER.replace("234", "240")

    amount = amount_between("unknown", SourceEvidence(AUTO_LOADER), SourceEvidence(later))

    assert (amount.total, amount.parts["seqNum"]) == (None, 6)
