"""Names every base checkpoint that is damaged, and what kind of query made it."""

from dataclasses import dataclass

ROCKSDB_PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True)
class Base:
    """A query whose checkpoint, after its batches, is the starting point of every damage."""

    name: str
    pending: bool = False
    """The newest batch has an offsets entry and no commit, because the sink raised."""
    state: str = "none"
    """Which state store the query uses: none, hdfs or rocksdb."""
    sources: int = 1
    source: str = "file"
    sink: str = "foreachBatch"
    batches: int = 5
    first_spark: tuple[int, int] = (3, 5)
    settings: tuple[tuple[str, str], ...] = ()

    def made_by(self, spark: str) -> bool:
        """Whether this version of Spark can make such a checkpoint."""
        major, minor = spark.split(".")[:2]
        return (int(major), int(minor)) >= self.first_spark


_ROCKSDB = (
    ("spark.sql.streaming.stateStore.providerClass", ROCKSDB_PROVIDER),
    ("spark.sql.streaming.stateStore.checkpointFormatVersion", "2"),
)
_OFFSETS_V2 = (("spark.sql.streaming.offsetLog.formatVersion", "2"),)

BASES: tuple[Base, ...] = (
    Base("stateless"),
    Base("stateless-pending", pending=True),
    Base("aggregation", state="hdfs"),
    Base("aggregation-pending", state="hdfs", pending=True),
    Base("rocksdb", state="rocksdb", first_spark=(4, 0), settings=_ROCKSDB),
    Base("rocksdb-pending", state="rocksdb", pending=True, first_spark=(4, 0), settings=_ROCKSDB),
    Base("union", sources=2),
    Base("async-gaps", source="rate-micro-batch"),
    Base("offsets-v2", first_spark=(4, 2), settings=_OFFSETS_V2),
    Base("offsets-v2-pending", pending=True, first_spark=(4, 2), settings=_OFFSETS_V2),
    Base("file-sink", sink="file"),
    Base("compacted", sink="file", batches=12),
)


def base_named(name: str) -> Base:
    """The base of that name; a name that is not in BASES raises KeyError."""
    return {base.name: base for base in BASES}[name]
