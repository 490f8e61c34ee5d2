"""Damages to the metadata line of an offsets entry: watermark, timestamp and pinned settings."""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.restarts.damage import Damage, either, named, pending, stateful
from tests.restarts.edits import Edit, Files, newest, replaced, with_json

PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

_SOME = named("stateless", "aggregation", "aggregation-pending")
_MOST = either(named("stateless", "stateless-pending", "offsets-v2-pending"), stateful)


def _metadata(change: Callable[[dict[str, Any]], dict[str, Any]], entries: int = 1) -> Edit:
    def edit(files: Files) -> Files:
        for back in range(entries):
            files = with_json(files, newest(files, "offsets", back), change)
        return files

    return edit


def _settings(changes: dict[str, str | None], entries: int = 1) -> Edit:
    def change(metadata: dict[str, Any]) -> dict[str, Any]:
        changed = {**metadata["conf"], **changes}
        return {
            **metadata,
            "conf": {key: text for key, text in changed.items() if text is not None},
        }

    return _metadata(change, entries)


def _field(name: str, value: Any) -> Edit:
    return _metadata(lambda metadata: {**metadata, name: value})


def _second_watermark(files: Files) -> Files:
    path = newest(files, "offsets")
    twice = re.sub(rb'("batchWatermarkMs":\d+)', rb'\1,"batchWatermarkMs":77', files[path])
    return replaced(files, path, twice)


def _second_partitions(files: Files) -> Files:
    path = newest(files, "offsets")
    pair = json.dumps({PARTITIONS: "3"})[1:-1].encode()
    return replaced(files, path, files[path].replace(b'"conf":{', b'"conf":{' + pair + b",", 1))


def _other_provider(metadata: dict[str, Any]) -> dict[str, Any]:
    settings = metadata["conf"]
    other = _HDFS.replace("HDFSBacked", "RocksDB") if "HDFS" in settings[PROVIDER] else _HDFS
    return {**metadata, "conf": {**settings, PROVIDER: other}}


SETTING_DAMAGES: tuple[Damage, ...] = (
    Damage(
        "partitions-1",
        "shuffle.partitions in offsets/N is 1 instead of 2",
        _MOST,
        _settings({PARTITIONS: "1"}),
    ),
    Damage(
        "partitions-3",
        "shuffle.partitions in offsets/N is 3 instead of 2",
        _MOST,
        _settings({PARTITIONS: "3"}),
    ),
    Damage(
        "partitions-3-in-both",
        "shuffle.partitions in offsets/N and offsets/N-1 is 3",
        pending,
        _settings({PARTITIONS: "3"}, entries=2),
    ),
    Damage(
        "partitions-word",
        "shuffle.partitions in offsets/N is the word two",
        _SOME,
        _settings({PARTITIONS: "two"}),
    ),
    Damage(
        "partitions-zero",
        "shuffle.partitions in offsets/N is 0",
        _SOME,
        _settings({PARTITIONS: "0"}),
    ),
    Damage(
        "partitions-unpinned",
        "shuffle.partitions is not in offsets/N",
        _MOST,
        _settings({PARTITIONS: None}),
    ),
    Damage(
        "partitions-twice",
        "shuffle.partitions is in offsets/N twice, first 3, then 2",
        _SOME,
        _second_partitions,
    ),
    Damage(
        "provider-swapped",
        "the state store provider in offsets/N is the other one",
        stateful,
        _metadata(_other_provider),
    ),
    Damage(
        "provider-unknown",
        "the state store provider in offsets/N is no known class",
        _SOME,
        _settings({PROVIDER: "org.example.Missing"}),
    ),
    Damage(
        "unknown-setting",
        "offsets/N pins a setting that Spark does not know",
        _SOME,
        _settings({"spark.sql.streaming.noSuchSetting": "7"}),
    ),
    Damage(
        "settings-missing",
        "the metadata of offsets/N has no conf",
        _SOME,
        _metadata(lambda metadata: {k: v for k, v in metadata.items() if k != "conf"}),
    ),
    Damage("settings-empty", "the conf of offsets/N is {}", _SOME, _field("conf", {})),
    Damage("settings-null", "the conf of offsets/N is null", _SOME, _field("conf", None)),
    Damage(
        "setting-number",
        "shuffle.partitions in offsets/N is a number, not text",
        _SOME,
        _metadata(lambda metadata: {**metadata, "conf": {**metadata["conf"], PARTITIONS: 2}}),
    ),
    Damage(
        "unknown-field",
        "the metadata of offsets/N has a field that Spark does not know",
        _SOME,
        _field("noSuchField", {"a": [1]}),
    ),
    Damage(
        "watermark-twice",
        "batchWatermarkMs is in offsets/N twice, then 77",
        _SOME,
        _second_watermark,
    ),
    Damage(
        "watermark-beyond-long",
        "batchWatermarkMs in offsets/N is 2 to the power of 63",
        _SOME,
        _field("batchWatermarkMs", 2**63),
    ),
    Damage(
        "watermark-negative",
        "batchWatermarkMs in offsets/N is -1",
        _SOME,
        _field("batchWatermarkMs", -1),
    ),
    Damage(
        "watermark-text",
        "batchWatermarkMs in offsets/N is text",
        _SOME,
        _field("batchWatermarkMs", "5"),
    ),
    Damage(
        "watermark-fraction",
        "batchWatermarkMs in offsets/N is 1.5",
        _SOME,
        _field("batchWatermarkMs", 1.5),
    ),
    Damage(
        "watermark-missing",
        "offsets/N has no batchWatermarkMs",
        _SOME,
        _metadata(lambda metadata: {k: v for k, v in metadata.items() if "Watermark" not in k}),
    ),
    Damage(
        "timestamp-zero", "batchTimestampMs in offsets/N is 0", _SOME, _field("batchTimestampMs", 0)
    ),
)
