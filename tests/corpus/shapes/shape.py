"""Says what a shape is: a name, the Spark versions it makes sense on, and how to run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.corpus.bench import Bench

EVERY = ("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0")
SINCE_4_0 = EVERY[1:]
SINCE_4_1 = EVERY[2:]
SINCE_4_2 = EVERY[3:]
SINCE_4_3 = EVERY[4:]
ENDS = ("3.5.9", "4.0.5", "4.3.0")
OLDEST_AND_NEWEST = ("3.5.9", "4.3.0")
NEWEST = ("4.3.0",)

STATE = "spark.sql.streaming.stateStore"
ROCKSDB = {
    f"{STATE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
CHANGELOG = {f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true"}
FORMAT_2 = {f"{STATE}.checkpointFormatVersion": "2"}


@dataclass(frozen=True)
class Shape:
    """One kind of checkpoint, made the same way on every Spark version in `versions`."""

    name: str
    description: str
    run: Callable[[Bench], None]
    versions: tuple[str, ...] = EVERY
    settings: Mapping[str, str] = field(default_factory=dict)
