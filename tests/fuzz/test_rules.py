"""Each rule across files is broken by the damage that it is there for."""

from __future__ import annotations

import pytest

from tests.corpus.loading import sample
from tests.fuzz.kinds import kinds_in
from tests.fuzz.rules import broken_rules
from tests.fuzz.test_found import (
    OPERATOR,
    SCHEMA,
    STATE,
    STATELESS,
    Change,
    drop,
    edit,
    other_ids,
    put,
    rename,
    without_item,
)

COMPACT = "sources/0/8.compact"


def _without_newest(files: dict[str, bytes]) -> dict[str, bytes]:
    newest = max(int(path[8:]) for path in files if path.startswith("offsets/") and path[8] != ".")
    return drop(f"state/0/1/{newest + 1}.delta")(files)


def _without_schemas(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if "_stateSchema" not in path}


CASES: tuple[tuple[str, str, Change], ...] = (
    ("ids follow each other", STATELESS, drop("offsets/1")),
    ("a commit has offsets", STATELESS, drop("offsets/3")),
    ("planned batches are committed", STATELESS, drop("commits/1")),
    ("the query has an id", STATELESS, drop("metadata")),
    ("the watermark follows", STATELESS, edit("offsets/2", b'rkMs":0', b'rkMs":5')),
    ("a commit keeps the watermark", STATELESS, edit("commits/2", b'Ms":', b'Ms":-1')),
    ("a batch has a time", STATELESS, edit("offsets/2", b"batchTim", b"x")),
    ("all entries have metadata", STATELESS, put("offsets/1", b'v1\n\n{"logOffset":1}')),
    ("time goes on", STATELESS, edit("offsets/2", b'mpMs":1', b'mpMs":')),
    ("the number of sources stays", STATELESS, edit("offsets/2", b'\n{"l', b'\n-\n{"l')),
    ("the log version stays", "offsets-v2", put("offsets/1", b'v1\n{}\n{"logOffset":1}')),
    ("settings stay", STATELESS, edit("offsets/2", b'"lz4"', b'"lzf"')),
    (
        "settings are a release's",
        STATELESS,
        edit(
            "offsets/2",
            b'"spark.sql',
            b'"',
        ),
    ),
    ("offsets go forward", STATELESS, edit("offsets/2", b'set":2', b'set":0')),
    ("an offset lies in its log", STATELESS, edit("offsets/3", b'set":3', b'set":9')),
    ("a source log is whole", STATELESS, drop("sources/0/1")),
    ("an entry holds its own files", STATELESS, edit("sources/0/1", b'Id":1', b'Id":2')),
    ("a compact entry repeats", "stateless-compacted", without_item(COMPACT, b'Id":7}')),
    ("an operator lies in its folder", STATE, edit(OPERATOR, b'Id":0', b'Id":1')),
    ("an operator is known", STATE, edit(OPERATOR, b"stateStoreSave", b"stateStoreSafe")),
    ("a store is there", STATE, edit(OPERATOR, b'"default"', b'"another"')),
    ("state versions follow", STATE, drop("state/0/0/2.delta")),
    ("operators are counted", "two-operators", rename("state/0/0/1.delta", "state/9/0/1.delta")),
    ("state ids fit", "aggregation-rocksdb-format-2", other_ids("commits/1")),
    ("operators are recorded", STATE, drop(OPERATOR)),
    ("a store has a schema", STATE, drop(SCHEMA)),
    ("names are plain", STATELESS, rename("offsets/3", "offsets/03")),
    ("entries differ", STATELESS, lambda files: {**files, "offsets/2": files["offsets/1"]}),
    ("state belongs to logs", STATE, lambda files: {"state/0/0/1.delta": b"x"}),
    ("state is there", STATE, _without_newest),
    ("a recorded schema is there", "transform-pandas", _without_schemas),
)


@pytest.mark.parametrize(("rule", "name", "change"), CASES, ids=[one[0] for one in CASES])
def test_the_rule_is_broken(rule: str, name: str, change: Change) -> None:
    """By the damage, and not before."""
    whole = sample(name, "4.3.0").files()
    damaged = change(whole)
    kinds = {**kinds_in(damaged), **kinds_in(whole)}
    assert broken_rules(whole, kinds) == []
    assert rule in {one.rule for one in broken_rules(damaged, kinds)}


def test_a_checksum_of_spark_must_fit() -> None:
    """Of the file beside it."""
    files = sample("aggregation-hdfs-lz4", "4.1.4").files()
    path = next(path for path in files if path.endswith("2.delta") and "/." not in path)
    damaged = {**files, path: files[path] + b"x"}
    assert [one.rule for one in broken_rules(damaged, kinds_in(files))] == ["Spark's checksum fits"]
